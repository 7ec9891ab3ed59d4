package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.LedgerGrpc;
import com.example.ledger.Period;
import com.example.ledger.Receipt;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.concurrent.atomic.AtomicInteger;
import tern.rpc.RpcException;

/**
 * Implements the generated gRPC service. Half of its streams send messages only while they are ready; the other streams
 * block in {@code onNext}.
 */
final class LedgerFeeds extends LedgerGrpc.LedgerImplBase {

    private static Status statusOf(RpcException failure) {
        return Status.Code.valueOf(failure.code().name()).toStatus().withDescription(failure.getMessage());
    }

    @Override
    public void statement(Period period, StreamObserver<Entry> answers) {
        FeedPlan plan = FeedPlan.of(period);
        ServerCallStreamObserver<Entry> caller = (ServerCallStreamObserver<Entry>) answers;
        if (plan.id() % 2 == 0) {
            statementWhileReady(plan, caller);
            return;
        }
        int count = plan.failAt() > 0 ? plan.failAt() : plan.messages();
        // without a cancellation handler, sending after a cancellation would throw an exception
        caller.setOnCancelHandler(() -> {});
        for (int i = 0; i < count && !caller.isCancelled(); i++) {
            caller.onNext(plan.entry(i));
        }
        end(plan, caller);
    }

    static void statementWhileReady(FeedPlan plan, ServerCallStreamObserver<Entry> caller) {
        int count = plan.failAt() > 0 ? plan.failAt() : plan.messages();
        AtomicInteger next = new AtomicInteger();
        caller.setOnReadyHandler(() -> {
            while (caller.isReady() && next.get() <= count) {
                int index = next.getAndIncrement();
                if (index < count) {
                    caller.onNext(plan.entry(index));
                } else {
                    end(plan, caller);
                }
            }
        });
    }

    private static void end(FeedPlan plan, ServerCallStreamObserver<Entry> caller) {
        if (caller.isCancelled()) {
            return;
        }
        if (plan.failAt() > 0) {
            caller.onError(Status.ABORTED.withDescription("as planned").asRuntimeException());
        } else {
            caller.onCompleted();
        }
    }

    @Override
    public StreamObserver<Entry> import_(StreamObserver<Receipt> answer) {
        return reading((ServerCallStreamObserver<Receipt>) answer, entry -> {}, reader -> {
            answer.onNext(reader.receipt());
            answer.onCompleted();
        });
    }

    /** Answers each received entry with a receipt that contains the entry's amount. */
    @Override
    public StreamObserver<Entry> reconcile(StreamObserver<Receipt> answers) {
        return reading(
                (ServerCallStreamObserver<Receipt>) answers,
                entry -> answers.onNext(
                        Receipt.newBuilder().setBalance(entry.getAmount()).build()),
                reader -> answers.onCompleted());
    }

    /** Receives each entry of a stream of requests. */
    interface Each {
        void read(Entry entry);
    }

    /** Receives the end of a stream of requests. */
    interface Last {
        void end(FeedsServer.Reader reader);
    }

    static <A> StreamObserver<Entry> reading(ServerCallStreamObserver<A> caller, Each each, Last last) {
        FeedsServer.Reader reader = new FeedsServer.Reader();
        caller.setOnCancelHandler(() -> {});
        return new StreamObserver<>() {
            private boolean failed;

            @Override
            public void onNext(Entry entry) {
                if (failed) {
                    return;
                }
                try {
                    reader.read(entry);
                } catch (RpcException e) {
                    failed = true;
                    caller.onError(statusOf(e).asRuntimeException());
                    return;
                }
                each.read(entry);
            }

            @Override
            public void onError(Throwable failure) {
                // the caller has cancelled the call, so there is nothing to do
            }

            @Override
            public void onCompleted() {
                if (!failed) {
                    last.end(reader);
                }
            }
        };
    }
}
