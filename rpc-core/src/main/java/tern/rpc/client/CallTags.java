package tern.rpc.client;

import java.util.Objects;
import tern.rpc.Invocation;

/** Reads the headers that restrict a call to providers with a tag (docs/cluster.md). */
final class CallTags {

    private static final String TAG = "dubbo.tag";
    private static final String FORCE_TAG = "dubbo.force.tag";

    private CallTags() {}

    /** Returns the call's tag; empty if the call has no tag. */
    static String tag(Invocation call) {
        return call.metadata().isEmpty()
                ? ""
                : Objects.requireNonNullElse(call.metadata().get(TAG), "");
    }

    /** Returns whether a call with a tag must not go to providers without a tag. */
    static boolean isForced(Invocation call) {
        return !call.metadata().isEmpty()
                && Boolean.parseBoolean(call.metadata().get(FORCE_TAG));
    }
}
