package tern.rpc.transport;

import java.io.Serializable;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcMethod;

/** The methods that every transport must support. */
public interface ContractService extends KeyedStore<ContractService.Item, Long> {

    enum Colour {
        RED,
        GREEN {
            @Override
            public String toString() {
                return "green with a body";
            }
        }
    }

    record Point(int x, int y) implements Serializable {}

    /** A bean with several consecutive fields of small types, which a faulty reader could mix up. */
    class Item implements Serializable {
        private static final long serialVersionUID = 1L;
        public long id;
        public float weight;
        public char letter;
        public short size;
        public byte flags;
        public boolean active;
        public @Nullable String name;
        public @Nullable Colour colour;
        public @Nullable BigDecimal price;
        public @Nullable Instant made;
        public @Nullable LocalDate sold;
        public @Nullable List<String> tags;
        public @Nullable Map<String, Point> places;
        public @Nullable Item parent;

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Item that
                    && id == that.id
                    && weight == that.weight
                    && letter == that.letter
                    && size == that.size
                    && flags == that.flags
                    && active == that.active
                    && Objects.equals(name, that.name)
                    && colour == that.colour
                    && Objects.equals(price, that.price)
                    && Objects.equals(made, that.made)
                    && Objects.equals(sold, that.sold)
                    && Objects.equals(tags, that.tags)
                    && Objects.equals(places, that.places)
                    && Objects.equals(parent, that.parent);
        }

        @Override
        public int hashCode() {
            return Long.hashCode(id);
        }
    }

    class Refused extends Exception {
        private static final long serialVersionUID = 1L;
        private final int code;

        public Refused(String message, int code) {
            super(message);
            this.code = code;
        }

        public int code() {
            return code;
        }
    }

    @Nullable
    String echo(@Nullable String text);

    int add(int one, int other);

    long add(long one, long other);

    Item item(Item item);

    Point point(Point point);

    Colour colour(Colour colour);

    Map<String, List<Point>> nested(Map<String, List<Point>> points);

    byte[] bytes(byte[] bytes);

    void nothing(String text);

    CompletableFuture<String> later(String text);

    CompletionStage<String> failsLater(String text);

    String fails(String kind) throws Refused;

    /** Blocks until the test releases it. */
    String blocks(String text);

    String header(String name);

    /** Returns the remaining time until the deadline in milliseconds, or -1 if there is no deadline. */
    long remainingMillis();

    @RpcMethod(oneWay = true)
    void tell(String text);

    @RpcMethod(timeout = "150ms")
    String blocksBriefly(String text);

    @RpcMethod(local = true)
    default String shout(String text, UnaryOperator<String> how) {
        return how.apply(echo(text));
    }

    default String greeting(String name) {
        return "hello " + echo(name);
    }
}
