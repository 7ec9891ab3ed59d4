package com.example.wire;

import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.ServerContext;

/** Implements the service in the same way as the provider whose calls were captured. */
public class GreetServer implements GreetService {

    /** The arguments of the calls to {@link #nothing} and {@link #oneway}. */
    public final BlockingQueue<String> told = new LinkedBlockingQueue<>();

    /**
     * Adds an attachment to the answer of the current call.
     *
     * @param value a string or a byte array
     */
    protected void attach(String name, Object value) {
        ServerContext context = ServerContext.current();
        if (context == null) {
            throw new IllegalStateException("no call is being served");
        }
        if (value instanceof byte[] bytes) {
            context.responseMetadata().put(name, bytes);
        } else {
            context.responseMetadata().put(name, (String) value);
        }
    }

    @Override
    public @Nullable String echo(@Nullable String s) {
        if (s != null && s.startsWith("att")) {
            attach("resp-key", "resp-val");
            attach("RespCamel", "v2");
            attach("resp-bytes", new byte[] {1, 2, -1});
        }
        return s;
    }

    @Override
    public Person pojo(Person p) {
        return p;
    }

    @Override
    public String checked(String s) throws BizException {
        throw new BizException("biz:" + s, 42);
    }

    @Override
    public String unchecked(String s) {
        throw new IllegalArgumentException("bad:" + s);
    }

    @Override
    public @Nullable String nul() {
        return null;
    }

    @Override
    public void nothing(String s) {
        told.add(s);
    }

    @Override
    public void oneway(String s) {
        told.add(s);
    }

    @Override
    public int add(int a, int b) {
        return a + b;
    }

    @Override
    public long add(long a, long b) {
        return a + b;
    }

    @Override
    public @Nullable Object types(@Nullable Object o) {
        return o;
    }

    @Override
    public Point record(Point p) {
        return p;
    }

    @Override
    public Map<String, Object> map(Map<String, Object> m, List<Person> l) {
        return m;
    }

    @Override
    public CompletableFuture<String> async(String s) {
        return CompletableFuture.supplyAsync(() -> "async:" + s);
    }

    @Override
    public byte[] bytes(byte[] b) {
        return b;
    }

    /** Returns after the given number of milliseconds, or earlier if the call is cancelled. */
    @Override
    public String slow(int ms) {
        CountDownLatch cancelled = new CountDownLatch(1);
        ServerContext context = ServerContext.current();
        if (context != null) {
            context.onCancel(cancelled::countDown);
        }
        try {
            return cancelled.await(ms, TimeUnit.MILLISECONDS) ? "cancelled" : "slow";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted";
        }
    }
}
