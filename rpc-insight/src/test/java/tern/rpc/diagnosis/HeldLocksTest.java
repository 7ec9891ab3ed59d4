package tern.rpc.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import shop.Fares;
import shop.Invoices;
import shop.Signatures;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.cause.Cause;
import tern.rpc.diagnosis.stack.CalledMethods;
import tern.rpc.diagnosis.stack.StackReader;
import tern.rpc.diagnosis.stack.ThreadSnapshot;
import tern.rpc.diagnosis.stack.ThreadSnapshots;

/** Tests the diagnosis of waits for locks. Real threads hold the locks and wait for them. */
class HeldLocksTest {

    private final CountDownLatch end = new CountDownLatch(1);
    private final Signatures signatures = new Signatures();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void endThreads() throws InterruptedException {
        end.countDown();
        for (Thread thread : threads) {
            if (!thread.getName().startsWith("dead")) {
                thread.join();
            }
        }
    }

    /** Starts a thread, and returns as soon as the thread is waiting. */
    private Thread waiting(String name, Runnable code, Thread.State... states) {
        Thread thread = new Thread(code, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
        while (!List.of(states).contains(thread.getState())) {
            Thread.onSpinWait();
        }
        return thread;
    }

    private static ThreadSnapshot look(Thread thread) {
        ThreadSnapshot look = ThreadSnapshots.of(new long[] {thread.getId()}).get(thread.getId());
        assertThat(look).isNotNull();
        return look;
    }

    @Test
    void monitorIsHeldInTheMethodThatEnteredItNotInItsHelper() {
        waiting("holder", () -> signatures.sign(end), Thread.State.WAITING);
        ThreadSnapshot waiter = look(waiting("waiter", () -> signatures.sign(end), Thread.State.BLOCKED));

        assertThat(StackReader.read(waiter))
                .isEqualTo(new Part(Part.Kind.LOCK, "monitor of Signatures held in Signatures.sign"));
        assertThat(StackReader.holderPath(waiter).get(0).getMethodName()).isEqualTo("sign");
    }

    @Test
    void lockOfTheStandardLibraryIsHeldInTheMethodThatTakesIt() {
        waiting("holder", () -> signatures.number(end), Thread.State.WAITING);
        ThreadSnapshot waiter = look(waiting("waiter", () -> signatures.number(end), Thread.State.WAITING));

        assertThat(StackReader.read(waiter))
                .isEqualTo(new Part(Part.Kind.LOCK, "ReentrantLock held in Signatures.number"));
    }

    @Test
    void ownerThatHasLeftTheMonitorInTheMeantimeIsUnknown() {
        StackTraceElement[] idle = {
            new StackTraceElement("jdk.internal.misc.Unsafe", "park", null, -2),
            new StackTraceElement("tern.rpc.concurrent.WorkerPool", "waitForWork", null, 220),
            new StackTraceElement("java.lang.Thread", "run", null, 840)
        };
        StackTraceElement[] blocked = {
            new StackTraceElement("java.util.concurrent.ConcurrentHashMap", "computeIfAbsent", null, 1_740),
            new StackTraceElement("shop.Quotes", "of", null, 30)
        };
        ThreadSnapshot owner = new ThreadSnapshot("rpc-worker-7", 8, Thread.State.WAITING, idle, null, null, -1, -1);

        ThreadSnapshot waiter = new ThreadSnapshot(
                "rpc-worker-9",
                9,
                Thread.State.BLOCKED,
                blocked,
                "java.util.concurrent.ConcurrentHashMap$Node",
                owner,
                -1,
                -1);

        assertThat(StackReader.read(waiter).name()).isEqualTo("monitor of ConcurrentHashMap wanted in Quotes.of");
    }

    @Test
    void codeThatParksForATimeSleeps() {
        Thread limited = waiting("limited", signatures::admitted, Thread.State.TIMED_WAITING);
        ThreadSnapshot look = look(limited);
        LockSupport.unpark(limited);

        assertThat(StackReader.read(look)).isEqualTo(new Part(Part.Kind.SLEEP, "Signatures.admitted"));
        assertThat(CalledMethods.of(look)).isEqualTo("LockSupport.parkNanos");
    }

    @Test
    void chainOfOwnersIsFollowedToItsEnd() {
        Signatures first = new Signatures();
        CountDownLatch held = new CountDownLatch(0);
        waiting("last", () -> signatures.sign(end), Thread.State.WAITING);
        waiting("middle", () -> first.signBoth(signatures, held), Thread.State.BLOCKED);
        ThreadSnapshot waiter = look(waiting("waiter", () -> first.sign(end), Thread.State.BLOCKED));

        assertThat(StackReader.read(waiter).name()).isEqualTo("monitor of Signatures held in Signatures.sign");
        assertThat(StackReader.lastOwner(waiter))
                .extracting(ThreadSnapshot::name)
                .isEqualTo("last");
    }

    @Test
    void lockWhoseOwnerHasLeftTheApplicationWasNeverReleased() {
        ReentrantLock lock = new ReentrantLock();
        waiting(
                "holder",
                () -> {
                    new Invoices(lock).fail();
                    awaitEnd(); // the worker waits for its next call
                    lock.unlock();
                },
                Thread.State.WAITING);
        ThreadSnapshot waiter = look(waiting("waiter", () -> new Invoices(lock).number(), Thread.State.WAITING));

        assertThat(StackReader.read(waiter))
                .isEqualTo(new Part(Part.Kind.LOCK, "ReentrantLock never released wanted in Invoices.number"));
    }

    /**
     * On Java 25 and later, an ended thread cannot be distinguished from a virtual thread (docs/decisions, decision
     * 47).
     */
    @Test
    void lockWhoseOwnerHasEndedWasNeverReleasedUnlessTheOwnerMayBeAVirtualThread() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Thread holder = new Thread(() -> new Invoices(lock).fail(), "holder");
        holder.start();
        holder.join();
        // This thread waits until the JVM exits.
        Thread waiter = new Thread(() -> new Invoices(lock).number(), "waiter");
        waiter.setDaemon(true);
        waiter.start();
        while (waiter.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        boolean isKnown = Runtime.version().feature() < 25;
        assertThat(StackReader.read(look(waiter)).name())
                .isEqualTo("ReentrantLock" + (isKnown ? " never released" : "") + " wanted in Invoices.number");
        assertThat(Optional.ofNullable(StackReader.lastOwner(look(waiter))).map(ThreadSnapshot::name))
                .isEqualTo(isKnown ? Optional.of("holder") : Optional.empty());
    }

    private void awaitEnd() {
        try {
            end.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void neverReleasedLockIsTheCauseIfAllSamplesShowTheSameOwner() throws Exception {
        ReentrantLock lock = new ReentrantLock();
        Shop shop = new Shop().healthy(call -> call.own(2));
        waiting(
                "holder",
                () -> {
                    new Invoices(lock).fail();
                    awaitEnd(); // the worker waits for its next call
                    lock.unlock();
                },
                Thread.State.WAITING);
        WaitingCalls calls = new WaitingCalls(shop);

        Cause first = calls.firstCause(() -> new Invoices(lock).number(), call -> call.own(2));
        end.countDown();
        calls.join();

        assertThat(first.kind() + ": " + first.name())
                .isEqualTo("LOCK NOT RELEASED: ReentrantLock wanted in Invoices.number");
        assertThat(first.change().text()).contains("in a finally block").contains("belongs to thread holder");
    }

    @Test
    void deadlockIsReportedAsADeadlock() {
        Signatures other = new Signatures();
        CountDownLatch bothHoldOne = new CountDownLatch(2);
        waiting("dead-1", () -> signatures.signBoth(other, bothHoldOne), Thread.State.WAITING, Thread.State.BLOCKED);
        Thread second = waiting("dead-2", () -> other.signBoth(signatures, bothHoldOne), Thread.State.BLOCKED);
        while (threads.get(0).getState() != Thread.State.BLOCKED) {
            Thread.onSpinWait();
        }

        assertThat(StackReader.read(look(second)).name()).contains("in a deadlock with Signatures.sign");
    }

    @Test
    void changeSaysThatTheThreadOutsideOfCallsHoldsTheLockDuringAnExchange() throws Exception {
        Shop shop = new Shop().healthy(call -> call.own(2));
        Fares fares = new Fares();
        CountDownLatch held = new CountDownLatch(1);
        CompletableFuture<String> answer = new CompletableFuture<>();
        WaitingCalls calls = new WaitingCalls(shop);
        waiting("timetable-1", () -> fares.reload(held, answer), Thread.State.WAITING);
        held.await();
        try {
            Cause first = calls.firstCause(fares::fare, call -> call.own(2));

            assertThat(DiagnosisText.title(first))
                    .isEqualTo("LOCK: ReentrantReadWriteLock.WriteLock held in Fares.reload");
            assertThat(first.change().text())
                    .contains("hold the lock for less time in Fares.reload:")
                    .contains("do not hold it during an HTTP exchange");
        } finally {
            answer.complete("");
            calls.join();
        }
    }
}
