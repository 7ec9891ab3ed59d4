package tern.rpc.load.micro;

import tern.sample.api.User;

/** Provides values for benchmarks in other packages. */
public final class Samples {

    private Samples() {}

    /** Returns a user with twelve fields. */
    public static User user() {
        return JsonGenerics.user();
    }
}
