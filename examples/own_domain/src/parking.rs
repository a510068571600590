//! Parking: one tool, one setting, one typed service.

/// What `build.rs` made of `proto/`.
mod proto {
    use std::sync::LazyLock;

    use prost_reflect::DescriptorPool;

    /// The descriptor set of the package and what it imports.
    pub(super) const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/acme.parking.binpb"));

    static POOL: LazyLock<DescriptorPool> =
        LazyLock::new(|| DescriptorPool::decode(DESCRIPTORS).expect("build.rs wrote a valid descriptor set"));

    pub(super) mod v1 {
        include!(concat!(env!("OUT_DIR"), "/acme.parking.v1.rs"));
    }
}

use include_dir::{Dir, include_dir};
use proto::v1::{
    self as wire, GetParkingPriceRequest, ParkingPrice,
    parking_service_server::{ParkingService, ParkingServiceServer},
};
use toolwire::{
    base::files::Embedded,
    config::{Reader, Section, Setting},
    contract::Provenance,
    server::{
        domain::{Domain, OpenError, Opened, Opening},
        faces::grpc::{self, Face},
    },
    tool::{
        Reply, Tool,
        context::{Required, Services, ToolContext, Unfinished},
        erase,
    },
};

static MANIFESTS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/manifests");

/// The domain.
pub(crate) fn domain() -> Domain {
    let tools = vec![erase(GetParkingPrice)];
    Domain {
        data: Embedded::manifests(&MANIFESTS, tools.iter().map(|tool| tool.name())),
        tools,
        descriptors: proto::DESCRIPTORS,
        settings: vec![Section::new(Settings::read)],
        open: Box::new(open),
        ..Domain::new("parking")
    }
}

/// What can be set: `[parking]` in `toolwire.toml`, or variables.
#[derive(Debug)]
struct Settings {
    /// `PARKING_CENTS_PER_HOUR`, default 250.
    cents_per_hour: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { cents_per_hour: 250 }
    }
}

impl Settings {
    fn read(reader: &mut Reader) -> Self {
        let cents_per_hour = Setting::new("parking.cents_per_hour", "PARKING_CENTS_PER_HOUR");
        Self { cents_per_hour: reader.value(cents_per_hour, Self::default().cents_per_hour) }
    }
}

/// Makes what the tools find in their context: the settings are all they need.
fn open(opening: &Opening<'_>) -> Result<Opened, OpenError> {
    Ok(Opened {
        services: Services::default().with(opening.config.part::<Settings>()),
        grpc: vec![grpc::service!(ParkingServiceServer, |face| face.clone())],
        ..Opened::default()
    })
}

grpc::typed_service! {
    impl ParkingService for Face {
        get_parking_price: GetParkingPrice, GetParkingPriceRequest => GetParkingPriceResponse;
    }
}

/// `get_parking_price`: the price of a stay.
#[derive(Clone, Copy, Debug)]
struct GetParkingPrice;

impl Tool for GetParkingPrice {
    const NAME: &'static str = "get_parking_price";
    type Input = GetParkingPriceRequest;
    type Output = ParkingPrice;

    fn services() -> Required {
        Required::none().of::<Settings>()
    }

    async fn execute(
        &self,
        input: GetParkingPriceRequest,
        context: &ToolContext,
    ) -> Result<Reply<ParkingPrice>, Unfinished> {
        let settings = context.services.get::<Settings>();
        let price_cents = i64::from(input.hours.unwrap_or_default()) * i64::from(settings.cents_per_hour);
        Ok(Reply { data: ParkingPrice { price_cents }, provenance: Provenance::of("tool:parking:v1", "") })
    }
}

#[cfg(test)]
mod tests {
    use toolwire::db::{insert, record, select, sql, sql::Statement};

    #[derive(Debug)]
    struct Stay {
        _place: String,
        _hours: i64,
    }

    record!(Stay, "a stay", { _place: "place", _hours: "hours" });

    #[test]
    fn statements_are_written_by_what_toolwire_exports() {
        let place = "north";
        let stays: Statement<Stay> = select!(Stay, "FROM stays WHERE place = {place}");
        let stay: Statement = insert! { stays: place, hours = 3 };
        let known = " AND place IS NOT NULL";
        let end: Statement = sql!("DELETE FROM stays WHERE hours > {3}{..known}");
        let texts = [format!("{stays:?}"), format!("{stay:?}"), format!("{end:?}")];
        for (text, expected) in texts.iter().zip([
            "SELECT place, hours FROM stays WHERE place = ?",
            "INSERT INTO stays (place, hours) VALUES (?, ?)",
            "DELETE FROM stays WHERE hours > ? AND place IS NOT NULL",
        ]) {
            assert!(text.contains(expected), "{text}");
        }
    }
}
