package tern.rpc.netty.streams;

import com.example.ledger.Entry;
import com.example.ledger.Receipt;
import io.grpc.StatusException;
import io.grpc.StatusRuntimeException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import tern.rpc.RpcException;
import tern.rpc.StatusCode;
import tern.rpc.netty.streams.FeedPlan.Reading;
import tern.rpc.netty.streams.FeedPlan.Way;

/**
 * The client's view of one stream: the received messages and the end of the stream. Only one thread at a time calls its
 * methods.
 */
final class Feed {

    /** The thread that requests messages for all readers with the speed {@code ONE_BY_ONE}. */
    private static final Executor SLOW = Executors.newSingleThreadExecutor(task -> {
        Thread thread = new Thread(task, "slow-readers");
        thread.setDaemon(true);
        return thread;
    });

    final FeedPlan plan;
    final CompletableFuture<StatusCode> outcome = new CompletableFuture<>();
    private final CompletableFuture<@Nullable Void> letGo = new CompletableFuture<>();
    private volatile int received;
    private volatile int sent;
    private volatile @Nullable Receipt receipt;
    private volatile @Nullable String fault;
    private volatile @Nullable Throwable failure;
    private volatile Runnable cancel = () -> {};
    private volatile boolean cancelled;

    Feed(FeedPlan plan) {
        this.plan = plan;
    }

    // ---- caller methods

    /**
     * Sets the action that cancels the call. The action runs between two requests. This method must be called before
     * the first request is sent.
     */
    void cancelledBy(Runnable action) {
        cancel = action;
    }

    /**
     * Checks and counts a received answer.
     *
     * @return whether the client must cancel the stream after this answer
     */
    boolean take(Entry entry) {
        if (plan.mistake() != null) {
            return false; // for a method that makes a mistake on purpose, the plan does not specify the answers
        }
        if (entry.getAccount().length() != plan.sizeOf(received)) {
            fault("answer " + received + " has " + entry.getAccount().length() + " characters instead of "
                    + plan.sizeOf(received));
        }
        return take(entry.getAmount());
    }

    /**
     * Checks and counts a received answer.
     *
     * @param amount the answer's amount, which encodes the id of the stream and the index of the answer
     * @return whether the client must cancel the stream after this answer
     */
    boolean take(long amount) {
        if (plan.mistake() != null) {
            return false;
        }
        int index = received;
        if (outcome.isDone()) {
            fault("answer " + FeedPlan.indexOf(amount) + " came after the end");
        }
        if (FeedPlan.indexOf(amount) != index || FeedPlan.idOf(amount) != plan.id()) {
            fault("answer " + FeedPlan.indexOf(amount) + " of stream " + FeedPlan.idOf(amount) + " came instead of "
                    + index);
        }
        received = index + 1;
        return received == plan.cancelAt();
    }

    /** Stores the single answer to a stream of requests. Reports a second answer as an error. */
    void take(Receipt answer) {
        if (receipt != null) {
            fault("a second answer came");
        }
        receipt = answer;
    }

    /** Returns the next request to send. Cancels the call if the plan requires a cancellation after this request. */
    Entry give() {
        int index = sent;
        Entry entry = plan.entry(index);
        sent = index + 1;
        if (plan.way() == Way.UP && sent == plan.cancelAt()) {
            cancelled = true;
            cancel.run();
        }
        return entry;
    }

    /** Returns whether the stream was cancelled. If so, no more requests may be sent. */
    boolean isCancelled() {
        return cancelled;
    }

    boolean hasMore() {
        return sent < plan.messages();
    }

    /**
     * Requests the first answers according to the reader's speed: all of them, one of them, or none until the test
     * resumes the reader.
     */
    void askFirst(Runnable forAll, Runnable forOne) {
        switch (plan.reading()) {
            case EAGER -> forAll.run();
            case ONE_BY_ONE -> SLOW.execute(forOne);
            case PAUSED -> letGo.thenRun(forAll);
        }
    }

    /** Requests the next answer if the plan is to request answers one by one. Called after each answer. */
    void askNext(Runnable forOne) {
        if (plan.reading() == Reading.ONE_BY_ONE) {
            SLOW.execute(forOne);
        }
    }

    /** Blocks a paused reader until the test resumes it. Used by clients that cannot request single messages. */
    void awaitLetGo() {
        if (plan.reading() == Reading.PAUSED) {
            letGo.join();
        }
    }

    void letGo() {
        letGo.complete(null);
    }

    void ended(StatusCode code) {
        if (!outcome.complete(code)) {
            fault("ended with " + code + " after it had ended with " + outcome.join());
        }
    }

    /** Records the end of the stream, unless an end has already been recorded. */
    void endedIfOpen(StatusCode code) {
        outcome.complete(code);
    }

    void failed(Throwable cause) {
        failure = cause;
        ended(codeOf(cause));
    }

    void fault(String what) {
        if (fault == null) {
            fault = what;
        }
    }

    private static StatusCode codeOf(Throwable failure) {
        if (failure instanceof CompletionException && failure.getCause() != null) {
            return codeOf(failure.getCause());
        }
        if (failure instanceof RpcException rpc) {
            return rpc.code();
        }
        if (failure instanceof StatusRuntimeException grpc) {
            return StatusCode.valueOf(grpc.getStatus().getCode().name());
        }
        if (failure instanceof StatusException grpc) {
            return StatusCode.valueOf(grpc.getStatus().getCode().name());
        }
        return StatusCode.CANCELLED; // the client has cancelled the stream, as planned
    }

    // ---- test assertions

    /** Returns a description of the first error in a stream that has ended; null if the stream ended as planned. */
    @Nullable
    String wrong() {
        if (fault != null) {
            return this + ": " + fault + ", " + plan + ", failure " + failure;
        }
        StatusCode code = outcome.join();
        if (plan.mistake() != null) {
            return null; // if the plan contains a mistake, any end of the stream is correct
        }
        boolean asPlanned = switch (code) {
            case OK -> plan.failAt() == 0 && isComplete();
            case ABORTED -> plan.failAt() > 0 && isCompleteBeforeFailure();
            case CANCELLED -> plan.cancelAt() > 0;
            case DEADLINE_EXCEEDED -> plan.deadline() != null;
            default -> false;
        };
        return asPlanned ? null : this + ": that is not what was planned, " + plan + ", failure " + failure;
    }

    private boolean isComplete() {
        Receipt answer = receipt;
        return plan.way() == Way.UP
                ? answer != null && answer.getEntries() == plan.messages() && answer.getBalance() == plan.totalBytes()
                : received == plan.messages();
    }

    private boolean isCompleteBeforeFailure() {
        return switch (plan.way()) {
            case DOWN -> received == plan.failAt();
            case UP -> true;
            case BOTH -> received < plan.failAt();
        };
    }

    @Override
    public String toString() {
        String mistake = plan.mistake() == null ? "" : plan.mistake() + ", ";
        return plan.way() + " stream " + plan.id() + " (" + mistake + plan.reading() + "), " + sent + " sent and "
                + received
                + " received of " + plan.messages() + ", "
                + (outcome.isDone() ? outcome.join().toString() : "not ended");
    }
}
