package tern.rpc.netty.triple;

import com.google.protobuf.StringValue;
import java.io.Serializable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import tern.rpc.RpcMethod;

/** The service that unauthenticated callers try to reach in tests. */
public interface Vault {

    /** The number of instances of {@link Treasure}, an argument class, that have been created. */
    AtomicInteger MADE = new AtomicInteger();

    /** True if {@link Rarity}, an argument class that no permitted call uses, has been initialized. */
    AtomicBoolean LOADED = new AtomicBoolean();

    @RpcMethod(readOnly = true)
    String read(String name);

    String open(Treasure treasure);

    String touch(Rarity rarity);

    @RpcMethod(readOnly = true)
    StringValue shout(StringValue text);

    int sum(int a, int b);

    long sum(long a, long b);

    CompletionStage<StringValue> join(Flow.Publisher<StringValue> parts);

    /** An argument type that counts how many instances are created. */
    class Treasure implements Serializable {

        private static final long serialVersionUID = 1L;

        private int gold;

        public Treasure() {
            MADE.incrementAndGet();
        }

        public int getGold() {
            return gold;
        }

        public void setGold(int gold) {
            this.gold = gold;
        }
    }

    /** A class that records when it is initialized. */
    class Rarity implements Serializable {

        private static final long serialVersionUID = 1L;

        static {
            LOADED.set(true);
        }

        private String name = "";

        public String getName() {
            return name;
        }

        public void setName(String name) {
            this.name = name;
        }
    }

    /** Implements the service and counts the executed calls. */
    final class Server implements Vault {

        final AtomicInteger ran = new AtomicInteger();

        private String ran() {
            return "ran " + ran.incrementAndGet();
        }

        @Override
        public String read(String name) {
            return ran();
        }

        @Override
        public String open(Treasure treasure) {
            return ran();
        }

        @Override
        public String touch(Rarity rarity) {
            return ran();
        }

        @Override
        public StringValue shout(StringValue text) {
            return StringValue.of(ran());
        }

        @Override
        public int sum(int a, int b) {
            return ran.incrementAndGet();
        }

        @Override
        public long sum(long a, long b) {
            return ran.incrementAndGet();
        }

        @Override
        public CompletionStage<StringValue> join(Flow.Publisher<StringValue> parts) {
            ran();
            throw new IllegalStateException("not reached by these tests");
        }
    }
}
