package tern.rpc.endpoint;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The properties of a provider that can change while the provider is running. A change does not affect the connection.
 * Sources should use the same object for equal attributes, because even a large cluster has few different attribute
 * values.
 *
 * @param weight the share of calls relative to other providers. A provider with weight 0 gets no new calls while a
 *     provider with a higher weight is connected and is neither silent nor ejected
 * @param zone the location of the provider, such as an availability zone, or empty if unknown
 * @param tags the labels for routing, by name, such as {@value #TAG}
 * @param revision identifies the set of services that the provider offers; empty if unknown
 * @param startedAtMillis the start of the process in milliseconds since 1970, or 0 if unknown
 * @param draining whether the provider is about to stop and should get no new calls
 * @param token the token that the provider publishes and requires in every call; null if the provider publishes no
 *     token
 */
public record Attributes(
        int weight,
        String zone,
        Map<String, String> tags,
        String revision,
        long startedAtMillis,
        boolean draining,
        @Nullable PublishedToken token) {

    /** The default weight, which is also Dubbo's default. */
    public static final int DEFAULT_WEIGHT = 100;

    /** The name of the tag that Dubbo uses for routing. */
    public static final String TAG = "dubbo.tag";

    /** The default weight and no other attributes. */
    public static final Attributes DEFAULT = new Attributes(DEFAULT_WEIGHT, "", Map.of(), "", 0, false, null);

    public Attributes {
        if (weight < 0) {
            throw new IllegalArgumentException("weight is " + weight + "; expected 0 or more");
        }
        tags = Map.copyOf(tags);
    }

    public static Attributes ofWeight(int weight) {
        return weight == DEFAULT_WEIGHT ? DEFAULT : DEFAULT.withWeight(weight);
    }

    public Attributes withWeight(int weight) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    public Attributes withZone(String zone) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    public Attributes withTags(Map<String, String> tags) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    public Attributes withRevision(String revision) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    /** @param startedAtMillis the start of the process in milliseconds since 1970, or 0 if unknown */
    public Attributes withStartedAt(long startedAtMillis) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    public Attributes withDraining(boolean draining) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    /** @param token the published token; null if the provider publishes no token */
    public Attributes withToken(@Nullable PublishedToken token) {
        return new Attributes(weight, zone, tags, revision, startedAtMillis, draining, token);
    }

    /** Returns the tag that Dubbo uses for routing, or empty if there is none. */
    public String tag() {
        return tags.getOrDefault(TAG, "");
    }
}
