package org.eclipse.jetty;

import java.util.concurrent.CountDownLatch;

/** Stands in for the class in which Jetty waits until a client has read a part of the answer. */
public final class HttpOutput {

    private HttpOutput() {}

    public static void write(CountDownLatch read) {
        try {
            read.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
