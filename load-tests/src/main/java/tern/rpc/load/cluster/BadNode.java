package tern.rpc.load.cluster;

/** The faults that can affect the first of the ten simulated nodes. */
enum BadNode {
    SLOW("10 times slower") {
        @Override
        void begin(Station station, FaultyRelay relay) {
            station.state(Station.State.SLOW);
        }
    },
    SILENT("accepts and never answers") {
        @Override
        void begin(Station station, FaultyRelay relay) {
            relay.mode(FaultyRelay.Mode.FREEZE);
        }
    },
    FAILING("fails at once") {
        @Override
        void begin(Station station, FaultyRelay relay) {
            station.state(Station.State.FAILING);
        }
    };

    private final String label;

    BadNode(String label) {
        this.label = label;
    }

    String label() {
        return label;
    }

    abstract void begin(Station station, FaultyRelay relay);

    void cure(Station station, FaultyRelay relay) {
        station.state(Station.State.HEALTHY);
        relay.mode(FaultyRelay.Mode.PASS);
    }
}
