package tern.rpc.endpoint;

/** One entry of a provider list: an endpoint with its current attributes. */
public record Instance(Endpoint endpoint, Attributes attributes) {

    /** Returns an instance with the default attributes. */
    public static Instance of(Endpoint endpoint) {
        return new Instance(endpoint, Attributes.DEFAULT);
    }

    public static Instance of(Endpoint endpoint, int weight) {
        return new Instance(endpoint, Attributes.ofWeight(weight));
    }

    @Override
    public String toString() {
        return endpoint.toString();
    }
}
