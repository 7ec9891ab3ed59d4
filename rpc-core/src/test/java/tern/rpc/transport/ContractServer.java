package tern.rpc.transport;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tern.rpc.NanoClock;
import tern.rpc.RpcException;
import tern.rpc.ServerContext;
import tern.rpc.StatusCode;
import tern.rpc.StrangeException;

/** Implements {@link ContractService}, with latches that tests release. */
class ContractServer implements ContractService {

    /** If an argument of {@code fails} has this prefix, the rest of the argument is the status code of the failure. */
    static final String STATUS = "status ";

    final CountDownLatch letGo = new CountDownLatch(1);
    final BlockingQueue<String> told = new LinkedBlockingQueue<>();
    final BlockingQueue<String> blocked = new LinkedBlockingQueue<>();
    final BlockingQueue<String> cancelled = new LinkedBlockingQueue<>();
    final CompletableFuture<String> later = new CompletableFuture<>();

    @Override
    public @Nullable String echo(@Nullable String text) {
        return text;
    }

    @Override
    public int add(int one, int other) {
        return one + other;
    }

    @Override
    public long add(long one, long other) {
        return one + other + 1_000;
    }

    @Override
    public Item item(Item item) {
        return item;
    }

    @Override
    public Point point(Point point) {
        return new Point(point.y(), point.x());
    }

    @Override
    public Colour colour(Colour colour) {
        return colour;
    }

    @Override
    public Map<String, List<Point>> nested(Map<String, List<Point>> points) {
        return points;
    }

    @Override
    public byte[] bytes(byte[] bytes) {
        return bytes;
    }

    @Override
    public void nothing(String text) {
        told.add(text);
    }

    @Override
    @SuppressWarnings("NullAway") // simulates a faulty method that returns null
    public CompletableFuture<String> later(String text) {
        return switch (text) {
            case "now" -> CompletableFuture.completedFuture("at once");
            case "null" -> null;
            default -> later;
        };
    }

    @Override
    public CompletionStage<String> failsLater(String text) {
        return CompletableFuture.supplyAsync(() -> {
            throw new IllegalStateException(text);
        });
    }

    @Override
    public String fails(String kind) throws Refused {
        if (kind.startsWith(STATUS)) {
            throw new RpcException(StatusCode.valueOf(kind.substring(STATUS.length())), "chosen by the method");
        }
        switch (kind) {
            case "declared" -> throw new Refused("not today", 42);
            case "standard" -> throw new IllegalArgumentException("bad", new IllegalStateException("cause"));
            case "secret" -> throw new StrangeException("inner");
            case "status" -> throw new RpcException(StatusCode.NOT_FOUND, "no such item");
            case "header" -> {
                header("reason");
                throw new Refused("with header", 1);
            }
            default -> throw new StackOverflowError();
        }
    }

    @Override
    public String blocks(String text) {
        ServerContext context = ServerContext.current();
        if (context != null) {
            context.onCancel(() -> cancelled.add(text));
        }
        blocked.add(text);
        try {
            if (!letGo.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody let it go");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return text;
    }

    @Override
    public String greeting(String name) {
        return "welcome " + name;
    }

    @Override
    public String blocksBriefly(String text) {
        return blocks(text);
    }

    @Override
    public String header(String name) {
        ServerContext context = ServerContext.current();
        if (context == null) {
            return "no context";
        }
        context.responseMetadata().put("Answer-Header", "sent back").put("bytes", new byte[] {1, 2, 3});
        String text = context.metadata().get(name);
        byte[] bytes = context.metadata().getBytes(name);
        return text != null ? text : bytes != null ? "bytes " + bytes.length : "none";
    }

    @Override
    public long remainingMillis() {
        ServerContext context = ServerContext.current();
        return context == null || !context.deadline().isLimited()
                ? -1
                : TimeUnit.NANOSECONDS.toMillis(context.deadline().remainingNanos(NanoClock.SYSTEM.nanoTime()));
    }

    @Override
    public void tell(String text) {
        told.add(text);
    }

    @Override
    public List<Item> byKeys(List<Long> keys) {
        List<Item> items = new ArrayList<>();
        for (Long key : keys) {
            Item item = new Item();
            item.id = key;
            items.add(item);
        }
        return items;
    }
}
