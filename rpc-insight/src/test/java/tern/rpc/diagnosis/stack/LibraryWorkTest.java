package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.DiagnosisText;
import tern.rpc.diagnosis.SampledCalls;
import tern.rpc.diagnosis.cause.Cause;

/** Tests waits in libraries and in the JDK that must not be reported as locks, sleeps or results of the application. */
class LibraryWorkTest {

    private static final String PARK = "jdk.internal.misc.Unsafe/park";

    private static ThreadSnapshot look(Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .flatMap(each -> Stream.of(each.strip().split("\\s+")))
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, parts[1].endsWith("0") ? -2 : 41))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("worker-1", 7, state, stack, null, null, -1, -1);
    }

    private static Cause first(ThreadSnapshot thread) {
        return new SampledCalls()
                .calls("OrderService.place", Phase.OWN, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, thread));
                    samples.addStack(Phase.OWN, thread, false);
                })
                .causes()
                .get(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "java.util.concurrent.locks.LockSupport/parkNanos com.lmax.disruptor.MultiProducerSequencer/next"
                        + " org.apache.logging.log4j.core.async.AsyncLogger/log",
                "java.util.concurrent.ArrayBlockingQueue/put ch.qos.logback.core.AsyncAppenderBase/put"
                        + " ch.qos.logback.classic.Logger/info"
            })
    void fullQueueOfALoggerIsASlowLog(String frames) {
        Cause first = first(look(Thread.State.TIMED_WAITING, frames, "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW LOG: log appenders");
        assertThat(first.change().text()).startsWith("the queue of the asynchronous appender is full");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.apache.logging.log4j.core.async.AsyncLoggerDisruptor/enqueueLogMessageWhenQueueFull",
                "org.apache.logging.log4j.core.async.AsyncLogger/enqueueLogMessageWhenQueueFull",
                "org.apache.logging.log4j.core.async.AsyncLoggerConfigDisruptor/enqueue"
            })
    void threadsThatWaitForTheLockOfAFullRingAreInTheSameSlowLog(String frame) {
        Cause first = first(look(
                Thread.State.BLOCKED, frame, "org.apache.logging.log4j.spi.AbstractLogger/info", "shop.Orders/find"));

        assertThat(first.change().text()).startsWith("the queue of the asynchronous appender is full");
    }

    @ParameterizedTest
    @CsvSource({
        "BLOCKED, org.apache.log4j.Category/callAppenders org.apache.log4j.Category/info",
        "WAITING, java.util.concurrent.locks.ReentrantLock/lock ch.qos.logback.core.OutputStreamAppender/writeBytes",
        "RUNNABLE, java.io.FileOutputStream/write0 java.util.logging.StreamHandler/publish"
                + " java.util.logging.Logger/info"
    })
    void loggerThatWaitsForItsLockOrItsFileIsASlowLog(Thread.State state, String frames) {
        Cause first = first(look(state, frames, "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("SLOW LOG: log appenders");
        assertThat(first.evidence()).anyMatch(line -> line.contains("Orders.find:41"));
    }

    @Test
    void appenderThatCallsWaitForIsNamedWithTheLineThatLogs() {
        Cause first = first(look(
                Thread.State.BLOCKED,
                "org.apache.logging.log4j.core.appender.OutputStreamManager/flush",
                "org.apache.logging.log4j.core.appender.SocketAppender/append",
                "org.apache.logging.log4j.spi.AbstractLogger/info",
                "shop.Orders/find"));

        assertThat(first.evidence()).contains("appender OutputStreamManager");
        assertThat(first.change().text()).contains("they are written in Orders.find:41");
    }

    @Test
    void lockOfALoggerNamesItsAppender() {
        ThreadSnapshot thread = new ThreadSnapshot(
                "http-1",
                7,
                Thread.State.BLOCKED,
                new StackTraceElement[0],
                "org.apache.logging.log4j.core.net.TcpSocketManager",
                null,
                -1,
                -1);

        assertThat(LibraryWork.appender(thread)).isEqualTo("TcpSocketManager");
    }

    @Test
    void filterOfALoggerAroundARequestDoesNotLog() {
        ThreadSnapshot thread = look(
                Thread.State.WAITING,
                PARK,
                "org.springframework.web.filter.OncePerRequestFilter/doFilter",
                "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                "org.apache.logging.log4j.web.Log4jServletFilter/doFilter",
                "ch.qos.logback.access.tomcat.LogbackValve/invoke");

        assertThat(LibraryWork.of(thread, "Filter.doFilter")).isNull();
    }

    @Test
    void codeThatFormatsALogLineComputes() {
        Cause first = first(look(
                Thread.State.RUNNABLE,
                "java.util.Formatter/format org.apache.logging.log4j.message.ParameterizedMessage/format",
                "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE COMPUTES: Orders.find");
    }

    @Test
    void lockOfTheApplicationBelowALoggerStaysALock() {
        Cause first = first(look(
                Thread.State.BLOCKED,
                "shop.Carts/toString",
                "org.apache.logging.log4j.Logger/info",
                "shop.Orders/find"));

        assertThat(first.kind()).isEqualTo("LOCK");
    }

    @Test
    void waitForTheLockOfAClassLoaderIsClassLoading() {
        Cause first = first(look(
                Thread.State.BLOCKED, "java.lang.ClassLoader/loadClass java.lang.Class/forName", "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CLASS LOADING: Orders.find");
        assertThat(first.change().text()).contains("create it once and keep it: in Orders.find:41");
    }

    @Test
    void pauseThatALibraryMakesIsNoSleepOfTheApplication() {
        String sleep = "java.lang.Thread/sleep0 java.lang.Thread/sleep";
        Cause library = first(look(
                Thread.State.TIMED_WAITING,
                sleep,
                "org.springframework.retry.backoff.ThreadWaitSleeper/sleep",
                "org.springframework.retry.support.RetryTemplate/execute",
                "shop.Orders/find"));
        Cause own = first(look(Thread.State.TIMED_WAITING, sleep, "shop.Orders/find"));

        assertThat(library.change().text()).contains("RetryTemplate.execute sleeps in Orders.find:41");
        assertThat(own.change().text())
                .startsWith("do not sleep in Orders.find:41")
                .contains("if it limits the rate of calls, raise its limit, or refuse calls at once");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "java.util.Random/next java.util.Random/nextInt                             | ThreadLocalRandom",
                "java.util.Random/nextDouble java.lang.Math/random                          | ThreadLocalRandom",
                "java.lang.ThreadLocal$ThreadLocalMap/getEntryAfterMiss java.lang.ThreadLocal/get | thread locals",
                "java.lang.Thread/start0 java.lang.Thread/start                             | create a pool of threads",
                "java.lang.Thread/start java.util.concurrent.ThreadPoolExecutor/execute     | create a pool of threads",
                "java.util.Arrays/copyOf java.util.concurrent.CopyOnWriteArrayList/add      | copies all elements",
                "java.util.concurrent.ConcurrentLinkedQueue/size                            | walks through all",
                "java.util.zip.Deflater/deflate java.util.zip.GZIPOutputStream/write        | compression",
                "java.lang.String/intern0 java.lang.String/intern                           | table of strings",
                "java.lang.ProcessImpl/forkAndExec0 java.lang.ProcessBuilder/start          | another program",
                "java.nio.Bits/reserveMemory java.nio.ByteBuffer/allocateDirect             | MaxDirectMemorySize",
                "java.io.ObjectOutputStream/writeObject0 java.io.ObjectOutputStream/writeObject | Java serialization",
                "java.io.ObjectInputStream/readObject org.springframework.util.SerializationUtils/clone | copy the"
                        + " needed fields",
                "java.lang.ClassLoader/defineClass0 java.lang.reflect.Proxy/newProxyInstance | create this class or"
                        + " proxy once"
            })
    void costlyMethodOfTheJdkHasItsAdvice(String frames, String change) {
        Cause first = first(look(Thread.State.RUNNABLE, frames, "shop.Orders/find"));

        assertThat(DiagnosisText.title(first)).isEqualTo("CODE COMPUTES: Orders.find");
        assertThat(first.change().text()).contains(change);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "java.util.Hashtable                               | use a concurrent collection",
                "java.util.Collections$SynchronizedMap             | use a concurrent collection",
                "java.lang.StringBuffer                            | use a StringBuilder for each call",
                "sun.security.provider.SecureRandom                | use ThreadLocalRandom",
                "sun.security.provider.HmacDrbg                    | use ThreadLocalRandom",
                "java.text.SimpleDateFormat                        | use a DateTimeFormatter",
                "shop.Rates                                        | hold the lock for less time",
                "shop.PropertiesCache                              | hold the lock for less time",
                "shop.StackService                                 | hold the lock for less time",
                "shop.SecureRandomPool                             | hold the lock for less time",
                "shop.DateFormatRegistry                           | hold the lock for less time"
            })
    void lockOfAnObjectOfTheJdkHasABetterReplacement(String lock, String change) {
        StackTraceElement[] stack = {new StackTraceElement("shop.Rates", "of", null, 41)};
        ThreadSnapshot owner = new ThreadSnapshot("worker-2", 8, Thread.State.RUNNABLE, stack, null, null, -1, -1);
        ThreadSnapshot waiting = new ThreadSnapshot("worker-1", 7, Thread.State.BLOCKED, stack, lock, owner, -1, -1);

        Cause first = first(waiting);

        assertThat(first.kind()).isEqualTo("LOCK");
        assertThat(first.change().text()).startsWith(change);
    }

    @Test
    void blockingMethodOfAReactiveLibraryWaitsForItsAnswer() {
        Cause first = first(look(
                Thread.State.WAITING,
                PARK,
                "java.util.concurrent.CountDownLatch/await",
                "io.reactivex.rxjava3.core.Single/blockingGet",
                "shop.Orders/find"));

        assertThat(first.change().text()).startsWith("find out why the server of this reactive client");
    }

    @Test
    void loadingOfClassesAndWorkOfTheCodeThatLoadsThemAreOneCause() {
        ThreadSnapshot loads = look(Thread.State.RUNNABLE, "java.lang.ClassLoader/loadClass", "shop.Orders/find");
        ThreadSnapshot defines = look(
                Thread.State.RUNNABLE,
                "java.lang.ClassLoader/defineClass0 java.lang.reflect.Proxy/newProxyInstance",
                "shop.Orders/find");

        List<Cause> causes = new SampledCalls()
                .calls("OrderService.place", Phase.OWN, 300, samples -> {
                    samples.add(SampledCalls.sample(Phase.OWN, loads));
                    samples.add(SampledCalls.sample(Phase.OWN, defines));
                    samples.add(SampledCalls.sample(Phase.OWN, defines));
                })
                .causes();

        assertThat(causes).extracting(DiagnosisText::title).containsExactly("CODE COMPUTES: Orders.find");
        assertThat(causes.get(0).change().text()).contains("create this class or proxy once");
    }
}
