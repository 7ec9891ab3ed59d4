package tern.rpc.client;

import java.util.Objects;
import tern.rpc.Invocation;

/** Reads from the headers of a call which providers its tag allows (docs/cluster.md). */
final class CallTags {

    private static final String TAG = "dubbo.tag";
    private static final String FORCE_TAG = "dubbo.force.tag";

    private CallTags() {}

    /** Returns the tag of the call; empty if it has none. */
    static String tag(Invocation call) {
        return call.metadata().isEmpty()
                ? ""
                : Objects.requireNonNullElse(call.metadata().get(TAG), "");
    }

    /** Returns whether the call must not go to providers without its tag. */
    static boolean isForced(Invocation call) {
        return !call.metadata().isEmpty()
                && Boolean.parseBoolean(call.metadata().get(FORCE_TAG));
    }
}
