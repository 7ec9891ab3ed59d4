package tern.rpc.diagnosis.sample;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import shop.Stock;
import tern.rpc.CallLedger;
import tern.rpc.NamedTimes;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.Shop;
import tern.rpc.diagnosis.WaitingCalls;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.diagnosis.account.Sample;
import tern.rpc.diagnosis.cause.Cause;

/**
 * Tests calls whose threads wait for asynchronous operations. In many of these calls, the application limits how many
 * threads may wait at the same time.
 */
class AwaitedOperationsTest {

    private static final int CALLS = 10;
    private static final StackTraceElement GATE = new StackTraceElement("depot.Gate", "enter", "Gate.java", 8);
    private static final StackTraceElement ASKS = new StackTraceElement("depot.Rates", "ask", "Rates.java", 20);
    private static final StackTraceElement ENTERS = new StackTraceElement("depot.Rates", "ask", "Rates.java", 18);
    private static final ThreadLocal<CallLedger> LEDGERS = new ThreadLocal<>();

    private final CompletableFuture<String> answer = new CompletableFuture<>();
    private final Shop shop = new Shop();
    private final WaitingCalls calls = new WaitingCalls(shop).after(LEDGERS::set);

    @AfterEach
    void endThreads() throws InterruptedException {
        answer.complete("");
        calls.join();
    }

    private Supplier<CompletableFuture<String>> client(Phase kind, String operation) {
        return () -> {
            LEDGERS.get().begin(kind, () -> operation);
            return answer;
        };
    }

    private Cause firstCause(Runnable call) throws Exception {
        return calls.firstCause(Collections.nCopies(CALLS, call), steps -> steps.own(2));
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP, GET rates:8080, SLOW HTTP PEER: GET rates:8080",
        "SQL, select rates, SLOW STATEMENT: select rates",
        "REDIS, GET rate:*, SLOW REDIS COMMAND: GET rate:*",
        "RPC, RateService.find at rates-1:20880, PEER: RateService.find at rates-1:20880"
    })
    void waitForAPermitIsTheAsynchronousOperationThatTheHoldersWaitFor(Phase kind, String operation, String cause)
            throws Exception {
        shop.healthy(call -> call.own(2).in(kind, operation, 3));
        Semaphore permits = new Semaphore(2);

        Cause first = firstCause(() -> Stock.exchange(permits, client(kind, operation)));

        assertThat(DiagnosisText.title(first)).isEqualTo(cause);
        assertThat(first.symptoms()).anySatisfy(symptom -> assertThat(symptom).contains("Semaphore wanted in Stock."));
        assertThat(first.evidence()).anySatisfy(line -> assertThat(line).contains("1.0 per call", "usually 3.0 ms"));
        assertThat(first.change().text()).doesNotContain("more permits");
    }

    @Test
    void waitForATokenOfAQueueIsTheAsynchronousOperationOfTheCallsThatHaveOne() throws Exception {
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET rates:8080", 3));
        BlockingQueue<Object> tokens = new LinkedBlockingQueue<>(List.of("token 1", "token 2"));

        Cause first = firstCause(() -> Stock.exchange(tokens, client(Phase.HTTP, "GET rates:8080")));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: GET rates:8080");
    }

    @Test
    void waitAtAGateThatIsBuiltFromAMonitorIsTheAsynchronousOperationOfTheCallsInside() throws Exception {
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET rates:8080", 3));
        Stock.Turnstile gate = new Stock.Turnstile();

        Cause first = firstCause(() -> Stock.exchange(gate, client(Phase.HTTP, "GET rates:8080")));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: GET rates:8080");
    }

    @Test
    void waitForALockIsTheAsynchronousOperationOfItsOwner() throws Exception {
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET rates:8080", 3));
        ReentrantLock lock = new ReentrantLock();

        Cause first = firstCause(() -> Stock.exchange(lock, client(Phase.HTTP, "GET rates:8080")));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: GET rates:8080");
    }

    @Test
    void gateStaysTheCauseIfTheHoldersWorkIsNoOperation() throws Exception {
        shop.healthy(call -> call.own(2).in(Phase.HTTP, "GET rates:8080", 3));
        Semaphore permits = new Semaphore(2);

        Cause first = firstCause(() -> Stock.exchange(permits, () -> answer));

        assertThat(DiagnosisText.title(first)).isEqualTo("LOCK: Semaphore wanted in Stock.exchange");
    }

    private static Sample sample(String called, Part part, StackTraceElement line, NamedTimes.Entry operation) {
        return new Sample(
                0, Phase.OWN, part, List.of(line, ENTERS), called, null, null, false, null, -1, -1, null, operation);
    }

    private static Sample atGate() {
        return sample("Semaphore.acquire", new Part(Part.Kind.LOCK, "Semaphore wanted in Gate.enter"), GATE, null);
    }

    private static Sample waitingFor(NamedTimes.Entry operation) {
        return sample("Mono.block", new Part(Part.Kind.RESULT, "Rates.ask"), ASKS, operation);
    }

    /** Calls, most of which wait for a permit for 700 ms and then for an exchange. */
    private static SampledCalls gated(double exchangeMillis) {
        NamedTimes.Entry exchange = new NamedTimes.Entry(Phase.HTTP, "GET rates:8080", 1, 1);
        AtomicInteger look = new AtomicInteger();
        return new SampledCalls()
                .usually("Rates.find", Phase.HTTP, "GET rates:8080", 20)
                .usuallyOwn("Rates.find", 3, 20)
                .waiting(
                        "Rates.find",
                        "GET rates:8080",
                        exchangeMillis,
                        700,
                        samples -> samples.add(look.getAndIncrement() % 5 < 4 ? atGate() : waitingFor(exchange)));
    }

    @Test
    void endedExchangesAreTheCauseOfTheWaitAtTheGate() {
        List<Cause> causes = gated(240).causes();

        assertThat(causes).hasSize(1);
        assertThat(DiagnosisText.title(causes.get(0))).isEqualTo("SLOW HTTP PEER: GET rates:8080");
        assertThat(causes.get(0).evidence()).anySatisfy(line -> assertThat(line).contains("240.0 ms each"));
    }

    @Test
    void gateIsTheCauseIfTheExchangesTakeTheirUsualTime() {
        assertThat(DiagnosisText.title(gated(20).causes().get(0))).isEqualTo("LOCK: Semaphore wanted in Gate.enter");
    }

    @Test
    void gateIsTheSymptomOfExchangesThatEndAfterTheirCallsHaveLeftTheThread() {
        NamedTimes.Entry exchange = new NamedTimes.Entry(Phase.HTTP, "GET rates:8080", 1, 1);
        AtomicInteger look = new AtomicInteger();
        Cause first = new SampledCalls()
                .usually("Rates.find", Phase.HTTP, "GET rates:8080", 20)
                .usuallyOwn("Rates.find", 3, 20)
                .waiting("Rates.find", "GET rates:8080", 240, 700, samples -> {
                    if (look.getAndIncrement() % 5 < 4) {
                        samples.add(atGate());
                    } else {
                        samples.withoutThread.add(new SampledCall.Operation(1, exchange));
                    }
                })
                .causes()
                .get(0);

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW HTTP PEER: GET rates:8080");
    }

    @Test
    void taskOfTheCallIsAwaitedInsteadOfAnOperationWithoutAWaitingThread() {
        CallLedger ledger = new CallLedger(shop::now);
        ledger.begin(Phase.HTTP, () -> "POST audit:8080");
        assertThat(AwaitedOperations.longest(ledger))
                .extracting(NamedTimes.Entry::name)
                .isEqualTo("POST audit:8080");

        ledger.child();

        assertThat(AwaitedOperations.longest(ledger)).isNull();
    }
}
