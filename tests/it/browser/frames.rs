//! The frame tree of pages whose frames share their process, and calls into such frames.
