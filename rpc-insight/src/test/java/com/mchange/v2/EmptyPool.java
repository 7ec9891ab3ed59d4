package com.mchange.v2;

import java.util.concurrent.CompletableFuture;

/** Stands in for a c3p0 pool that has no free database connection. */
public final class EmptyPool {

    private EmptyPool() {}

    public static String getConnection(CompletableFuture<String> returned) {
        return returned.join();
    }
}
