package tern.rpc.load.micro;

import tern.sample.api.User;

/** Values for benchmarks of other packages. */
public final class Samples {

    private Samples() {}

    /** With twelve fields. */
    public static User user() {
        return JsonGenerics.user();
    }
}
