package com.mchange.v2;

import java.util.concurrent.CompletableFuture;

/** Stands in for a pool of database connections of the library c3p0 that has no free connection. */
public final class EmptyPool {

    private EmptyPool() {}

    public static String getConnection(CompletableFuture<String> returned) {
        return returned.join();
    }
}
