//! Routes that may be none, written so that none is not the root: a route alone is a session's id, and the root is null.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ids::Route;

/// A list of one route, or null.
pub(crate) fn serialize<S: Serializer>(route: &Option<Route>, serializer: S) -> Result<S::Ok, S::Error> {
    route.as_ref().map(|route| [route]).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Route>, D::Error> {
    let route = Option::<[Route; 1]>::deserialize(deserializer)?;
    Ok(route.map(|[route]| route))
}

/// Maps to such routes.
pub(crate) mod values {
    use std::collections::BTreeMap;

    use cdp_wire::FrameId;
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::ids::Route;

    pub(crate) fn serialize<S: Serializer>(
        map: &BTreeMap<FrameId, Option<Route>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(frame, route)| (frame, route.as_ref().map(|route| [route]))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<FrameId, Option<Route>>, D::Error> {
        let map = BTreeMap::<FrameId, Option<[Route; 1]>>::deserialize(deserializer)?;
        Ok(map.into_iter().map(|(frame, route)| (frame, route.map(|[route]| route))).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cdp_wire::{FrameId, SessionId};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Written {
        #[serde(with = "super")]
        route: Option<Route>,
        #[serde(with = "super::values")]
        routes: BTreeMap<FrameId, Option<Route>>,
    }

    #[test]
    fn none_the_root_and_a_session_are_read_as_they_were_written() {
        for route in [None, Some(Route::Root), Some(Route::Session(SessionId::from("S")))] {
            let routes = BTreeMap::from([(FrameId::from("F"), route.clone())]);
            let written = Written { route, routes };
            let read: Written = serde_json::from_str(&serde_json::to_string(&written).unwrap()).unwrap();
            assert_eq!(read, written);
        }
    }
}
