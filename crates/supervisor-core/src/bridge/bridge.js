// Answers the page's dialogs by asking the supervisor instead of the browser. What stands in braces and capitals is filled
// in. It runs before the page's own scripts and shares its world, so it keeps what it needs from the start and trusts
// nothing that the page can change later: no method is looked up, no object inherits from the page's prototypes.
(() => {
  'use strict';
  const page = globalThis;
  const { alert, confirm, prompt, Proxy, XMLHttpRequest } = page;
  if (typeof alert !== 'function' || typeof XMLHttpRequest !== 'function') return;
  if (alert['{MARK}']) return;

  const { apply, defineProperty, get, getOwnPropertyDescriptor } = page.Reflect;
  const { parse, stringify } = page.JSON;
  const { indexOf, slice, toLowerCase } = page.String.prototype;
  const { toString } = page.Function.prototype;
  const { open, send } = XMLHttpRequest.prototype;
  const getter = (object, name) => getOwnPropertyDescriptor(object, name)?.get;
  const status = getter(XMLHttpRequest.prototype, 'status');
  const responseText = getter(XMLHttpRequest.prototype, 'responseText');
  const parentOf = getter(page, 'parent');
  const elementOf = getter(page, 'frameElement');
  const { getAttribute } = page.Element.prototype;

  // The browser shows no more of a message (in UTF-16 units), and the supervisor keeps no more of a default text.
  const MOST_MESSAGE = 10240;
  const MOST_PRESET = 1048576;
  const quoted = (text, most) => stringify(apply(slice, text, [0, most]));

  // Only strings are given to stringify: for them it calls nothing that the page could have put in its way.
  const request = (kind, message, preset) =>
    '{"token":"{TOKEN}","kind":"' + kind + '","message":' + quoted(message, MOST_MESSAGE) +
    ',"preset":' + quoted(preset, MOST_PRESET) + '}';

  // Gives {accepted, text}, or null where nobody could be asked: then it is the browser's turn.
  const ask = (body) => {
    if (left === page.document || isSilenced()) return null;
    try {
      const asked = new XMLHttpRequest();
      apply(open, asked, ['POST', 'https://{HOST}/{PATH}', false]);
      apply(send, asked, [body]);
      return apply(status, asked, []) === 200 ? parse(apply(responseText, asked, [])) : null;
    } catch {
      return null;
    }
  };

  // While a document is being left, the browser decides what a dialog does: mostly nothing. The first document of a popup
  // keeps the window of the blank one before it, so it is the document that counts.
  let left = null;
  const noteWhen = (name, note) =>
    page.addEventListener(name, (event) => { if (event.isTrusted) left = note(); }, true);
  noteWhen('pagehide', () => page.document);
  noteWhen('pageshow', () => null);

  // Whether a frame on the way up, as far as it may be seen from here, is sandboxed without `allow-modals`. The
  // supervisor looks at those that cannot be seen.
  const isSilenced = () => {
    try {
      for (let frame = page; ; frame = apply(parentOf, frame, [])) {
        const element = apply(elementOf, frame, []);
        if (element === null) return false;
        const sandbox = apply(getAttribute, element, ['sandbox']);
        if (sandbox === null) continue;
        const words = ' ' + apply(toLowerCase, sandbox, []) + ' ';
        if (apply(indexOf, words, [' allow-modals ']) < 0) return true;
      }
    } catch {
      return false;
    }
  };

  // The browser's function stays behind the override, so that its name, length and properties are its own.
  const override = (name, native, answer) => {
    const look = new Proxy(toString, {
      __proto__: null,
      apply: (target, self, args) => apply(target, self === asking ? native : self, args),
    });
    const asking = new Proxy(native, {
      __proto__: null,
      apply: (target, self, args) =>
        self === undefined || self === null || self === page ? answer(args) : apply(native, self, args),
      get: (target, key) => (key === 'toString' ? look : key === '{MARK}' ? true : get(target, key)),
    });
    defineProperty(page, name, {
      __proto__: null, value: asking, writable: true, enumerable: true, configurable: true,
    });
  };

  const given = (args, place) => (args.length > place && args[place] !== undefined ? `${args[place]}` : '');

  override('alert', alert, (args) => {
    const message = args.length === 0 ? '' : `${args[0]}`;
    const answer = ask(request('alert', message, ''));
    return answer === null ? apply(alert, page, [message]) : undefined;
  });
  override('confirm', confirm, (args) => {
    const message = given(args, 0);
    const answer = ask(request('confirm', message, ''));
    return answer === null ? apply(confirm, page, [message]) : answer.accepted;
  });
  override('prompt', prompt, (args) => {
    const message = given(args, 0);
    const preset = given(args, 1);
    const answer = ask(request('prompt', message, preset));
    return answer === null ? apply(prompt, page, [message, preset]) : answer.accepted ? answer.text : null;
  });
})();
