package tern.rpc.diagnosis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.Part;
import tern.rpc.pool.ApplicationCode;

class StackReaderTest {

    /** Reads the stack of a thread that is running in the first of the given methods. */
    private static Part computingIn(String... frames) {
        return StackReader.read(computing(frames));
    }

    private static ThreadSnapshot computing(String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("worker-1", 7, Thread.State.RUNNABLE, stack, null, null, 1, -1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.h2.command.query.Select/queryWithoutCache",
                "org.h2.mvstore.MVMap/get",
                "org.hsqldb.persist.RowStoreAVL/next",
                "org.apache.derby.impl.sql.execute.TableScanResultSet/getNextRowCore"
            })
    void databaseWithinTheProcessRunsTheStatement(String engine) {
        assertThat(computingIn(engine, "org.h2.jdbc.JdbcPreparedStatement/executeQuery", "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.SQL, "called in Tracking.track"));
    }

    @Test
    void driverThatReadsResultsComputes() {
        assertThat(computingIn(
                        "org.h2.value.Transfer/readValue", "org.h2.jdbc.JdbcResultSet/next", "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.COMPUTING, "Tracking.track"));
    }

    /** Reads the stack of a thread waiting in the first of the given methods. */
    private static Part waitingIn(String... frames) {
        return read(Thread.State.WAITING, frames);
    }

    private static Part read(Thread.State state, String... frames) {
        return StackReader.read(look(state, frames));
    }

    private static ThreadSnapshot look(Thread.State state, String... frames) {
        StackTraceElement[] stack = Stream.of(frames)
                .map(frame -> frame.split("/"))
                .map(parts -> new StackTraceElement(parts[0], parts[1], null, 7))
                .toArray(StackTraceElement[]::new);
        return new ThreadSnapshot("worker-1", 7, state, stack, null, null, -1, -1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "com.zaxxer.hikari.pool.HikariPool/getConnection",
                "com.alibaba.druid.pool.DruidDataSource/getConnectionInternal",
                "org.apache.commons.dbcp2.PoolingDataSource/getConnection",
                "org.apache.tomcat.jdbc.pool.ConnectionPool/getConnection"
            })
    void taskThatAsksAPoolForAConnectionWaitsForThePool(String pool) {
        assertThat(waitingIn("java.util.concurrent.locks.LockSupport/park", pool, "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.POOL, "jdbc"));
    }

    @Test
    void connectionOfAPoolThatTheApplicationCreatedIsNotOneOfAMeasuredPool() {
        ThreadSnapshot look = look(
                Thread.State.TIMED_WAITING, "com.zaxxer.hikari.pool.HikariPool/getConnection", "depot.Tracking/track");

        assertThat(LibraryWaits.ofCall(StackReader.read(look), Phase.OWN, look))
                .isEqualTo(new Part(Part.Kind.POOL, "connection pool in Tracking.track"));
        assertThat(LibraryWaits.ofCall(StackReader.read(look), Phase.JDBC_CONNECTION, look))
                .isEqualTo(new Part(Part.Kind.POOL, "jdbc"));
    }

    @Test
    void connectionOfAMeasuredPoolIsKnownEvenIfTheWaitHasJustBegun() {
        ThreadSnapshot look = look(
                Thread.State.TIMED_WAITING,
                "com.zaxxer.hikari.pool.HikariPool/getConnection",
                "tern.rpc.spring.autoconfigure.pool.WatchedDataSource/lambda$of$0",
                "depot.Tracking/track");

        assertThat(LibraryWaits.ofCall(StackReader.read(look), Phase.OWN, look))
                .isEqualTo(new Part(Part.Kind.POOL, "jdbc"));
    }

    @Test
    void waitForAnObjectOfAClientsPoolIsNoCommandOfItsServer() {
        assertThat(waitingIn(
                        "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject/await",
                        "org.apache.commons.pool2.impl.LinkedBlockingDeque/takeFirst",
                        "org.apache.commons.pool2.impl.GenericObjectPool/borrowObject",
                        "redis.clients.jedis.util.Pool/getResource",
                        "redis.clients.jedis.JedisPool/getResource",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.POOL, "JedisPool in Tracking.track"));
        assertThat(waitingIn(
                        "java.util.concurrent.locks.LockSupport/parkNanos",
                        "com.mongodb.internal.connection.ConcurrentPool/get",
                        "com.mongodb.internal.connection.DefaultConnectionPool/get",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.POOL, "pool of MongoDB connections in Tracking.track"));
        assertThat(waitingIn(
                        "java.lang.Object/wait",
                        "org.apache.commons.pool2.impl.GenericObjectPool/borrowObject",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.POOL, "object pool in Tracking.track"));
    }

    @Test
    void libraryThatSleepsIsNamedAndNotTheLibraryThatTheApplicationCalled() {
        ThreadSnapshot retries = look(
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "java.util.concurrent.TimeUnit/sleep",
                "org.apache.hc.core5.util.TimeValue/sleep",
                "org.apache.hc.client5.http.impl.classic.HttpRequestRetryExec/execute",
                "org.springframework.web.client.DefaultRestClient/retrieve",
                "depot.Tracking/track");
        ThreadSnapshot backsOff = look(
                Thread.State.TIMED_WAITING,
                "java.lang.Thread/sleep",
                "org.springframework.retry.backoff.ThreadWaitSleeper/sleep",
                "org.springframework.retry.support.RetryTemplate/execute",
                "depot.Tracking/track");

        assertThat(CalledMethods.of(retries)).isEqualTo("HttpRequestRetryExec.execute");
        assertThat(CalledMethods.of(backsOff)).isEqualTo("RetryTemplate.execute");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sun.nio.ch.FileDispatcherImpl", "sun.nio.ch.UnixFileDispatcherImpl"})
    void lockOfAFileIsNoSlowDisk(String dispatcher) {
        assertThat(read(
                        Thread.State.RUNNABLE,
                        dispatcher + "/lock0",
                        dispatcher + "/lock",
                        "sun.nio.ch.FileChannelImpl/lock",
                        "java.nio.channels.FileChannel/lock",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.LOCK, "file lock requested in Tracking.track"));
        assertThat(waitingIn(dispatcher + "/force0", dispatcher + "/force", "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.FILE, "Tracking.track"));
    }

    @Test
    void poolThatOpensAConnectionWaitsForItsServer() {
        assertThat(waitingIn(
                        "sun.nio.ch.Net/poll",
                        "redis.clients.jedis.DefaultJedisSocketFactory/createSocket",
                        "org.apache.commons.pool2.impl.GenericObjectPool/borrowObject",
                        "redis.clients.jedis.JedisPool/getResource",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.REDIS, "called in Tracking.track"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "org.redisson.RedissonLock/lock",
                "org.redisson.RedissonFairLock/tryLock",
                "org.apache.curator.framework.recipes.locks.LockInternals/internalLockLoop",
                "org.springframework.integration.redis.util.RedisLockRegistry$RedisSpinLock/tryRedisLockInner"
            })
    void waitForALockOfSeveralProcessesIsALock(String library) {
        assertThat(waitingIn("java.util.concurrent.Semaphore/acquire", library, "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.LOCK, "distributed lock wanted in Tracking.track"));
    }

    @Test
    void commandThatTakesALockOfSeveralProcessesIsACommand() {
        assertThat(waitingIn(
                        "java.util.concurrent.CompletableFuture/get",
                        "org.redisson.command.CommandAsyncService/get",
                        "org.redisson.RedissonLock/tryLock",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.REDIS, "called in Tracking.track"));
    }

    @Test
    void waitBelowALimitOfConcurrentCallsIsALimit() {
        assertThat(waitingIn(
                        "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject/await",
                        "org.springframework.util.ConcurrencyThrottleSupport/onLimitReached",
                        "org.springframework.util.ConcurrencyThrottleSupport/beforeAccess",
                        "org.springframework.aop.interceptor.ConcurrencyThrottleInterceptor/invoke",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.LOCK, "concurrency limit wanted in Tracking.track"));
    }

    @Test
    void virtualThreadThatParksForATimeSleeps() {
        assertThat(read(
                        Thread.State.TIMED_WAITING,
                        "java.lang.VirtualThread/parkNanos",
                        "java.lang.System$2/parkVirtualThread",
                        "jdk.internal.misc.VirtualThreads/park",
                        "java.util.concurrent.locks.LockSupport/parkNanos",
                        "io.github.resilience4j.ratelimiter.internal.AtomicRateLimiter/waitForPermission",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.SLEEP, "Tracking.track"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"park", "parkNanos", "yieldContinuation", "tryYield", "sleepNanos"})
    void virtualThreadThatCouldRunWaitsForACarrierThread(String method) {
        assertThat(read(
                        Thread.State.RUNNABLE,
                        "java.lang.VirtualThread/" + method,
                        "java.util.concurrent.locks.LockSupport/park",
                        "sun.nio.ch.NioSocketImpl/park",
                        "depot.Tracking/track"))
                .isEqualTo(Part.of(Part.Kind.CARRIER));
    }

    /** Reads the stack of a thread waiting for a lock held by the given thread. */
    private static Part waitingFor(Thread.State state, String lock, ThreadSnapshot owner, String... frames) {
        return StackReader.read(
                new ThreadSnapshot("worker-1", 7, state, look(state, frames).frames(), lock, owner, -1, -1));
    }

    private static ThreadSnapshot writing(String... callers) {
        List<StackTraceElement> stack = new ArrayList<>();
        stack.add(new StackTraceElement("java.io.FileOutputStream", "writeBytes", null, -2));
        stack.addAll(List.of(look(Thread.State.RUNNABLE, callers).frames()));
        return new ThreadSnapshot(
                "worker-2", 8, Thread.State.RUNNABLE, stack.toArray(StackTraceElement[]::new), null, null, 1, -1);
    }

    @Test
    void threadThatWaitsToPrintWaitsForTheFileThatTheOwnerOfTheLockWrites() {
        ThreadSnapshot owner = writing("java.io.PrintStream/println", "depot.Audit/print");

        assertThat(waitingFor(
                        Thread.State.BLOCKED,
                        "java.io.PrintStream",
                        owner,
                        "java.io.PrintStream/println",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.FILE, "Audit.print"));
        assertThat(waitingFor(
                        Thread.State.WAITING,
                        "java.util.concurrent.locks.ReentrantLock$NonfairSync",
                        owner,
                        "java.util.concurrent.locks.ReentrantLock/lock",
                        "jdk.internal.misc.InternalLock/lock",
                        "java.io.PrintStream/println",
                        "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.FILE, "Audit.print"));
    }

    @Test
    void lockOfTheApplicationStaysTheCauseWhileItsOwnerWritesAFile() {
        ThreadSnapshot owner = writing("java.io.PrintStream/println", "depot.Audit/print", "depot.Tracking/track");

        assertThat(waitingFor(Thread.State.BLOCKED, "depot.Tracking", owner, "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.LOCK, "monitor of Tracking held in Tracking.track"));
    }

    @Test
    void mapThatComputesAValueStaysTheCauseWhileTheApplicationReadsAFile() {
        ThreadSnapshot owner = writing(
                "depot.Tracking/load",
                "java.util.concurrent.ConcurrentHashMap/computeIfAbsent",
                "depot.Tracking/track");

        assertThat(waitingFor(
                                Thread.State.BLOCKED,
                                "java.util.concurrent.ConcurrentHashMap$ReservationNode",
                                owner,
                                "java.util.concurrent.ConcurrentHashMap/computeIfAbsent",
                                "depot.Tracking/track")
                        .kind())
                .isEqualTo(Part.Kind.LOCK);
    }

    @Test
    void lockThatTheJdkTakesIsNamedByItsClass() {
        StackTraceElement[] signs = look(
                        Thread.State.RUNNABLE, "java.security.SecureRandom/nextBytes", "depot.Audit/sign")
                .frames();
        // The owner and the waiting thread have different ids. With equal ids, the test would see a deadlock that
        // another test has left behind.
        ThreadSnapshot owner = new ThreadSnapshot("worker-2", 8, Thread.State.RUNNABLE, signs, null, null, -1, -1);

        assertThat(waitingFor(
                                Thread.State.WAITING,
                                "java.util.concurrent.locks.ReentrantLock$NonfairSync",
                                owner,
                                "java.util.concurrent.locks.ReentrantLock/lock",
                                "java.security.SecureRandom/nextBytes",
                                "depot.Tracking/track")
                        .name())
                .isEqualTo("lock of SecureRandom held in Audit.sign");
    }

    /** The JVM does not report the monitor that a virtual thread waits for. */
    @ParameterizedTest
    @CsvSource({
        "java.util.concurrent.ConcurrentHashMap/computeIfAbsent, monitor of ConcurrentHashMap wanted in Tracking.track",
        "java.util.Hashtable/get, monitor of Hashtable wanted in Tracking.track",
        "depot.Ledger/add, monitor of an object wanted in Ledger.add"
    })
    void monitorThatAVirtualThreadWaitsForIsNamedByTheClassThatTakesIt(String taker, String name) {
        assertThat(read(Thread.State.BLOCKED, taker, "depot.Tracking/track").name())
                .isEqualTo(name);
    }

    @Test
    void rateLimiterOfAnAnnotationIsRecognized() {
        assertThat(Hints.waiting("RateLimiterAspect.rateLimiterAroundAdvice")).contains("rate limiter");
        assertThat(Hints.waiting("BlockingBucket.consume")).contains("rate limiter");
    }

    @ParameterizedTest
    @CsvSource({
        "LinkedBlockingQueue.put, this queue is full",
        "ArrayBlockingQueue.offer, this queue is full",
        "LinkedBlockingDeque.takeFirst, if it is a pool",
        "SynchronousQueue.poll, if it is a pool",
        "Mono.block, find out why the server of this reactive client",
        "CompletableFuture.join, ''",
    })
    void waitForAnotherThreadIsExplainedByTheCalledMethod(String called, String advice) {
        String hint = Hints.result(called);

        assertThat(hint).contains(advice);
        assertThat(hint.isEmpty()).isEqualTo(advice.isEmpty());
    }

    @Test
    void waitForALookupOfTheSameHostCountsAsALookup() {
        assertThat(waitingIn(
                        "java.util.concurrent.locks.ReentrantLock/lock",
                        "java.net.InetAddress$NameServiceAddresses/get",
                        "java.net.InetAddress/getAllByName",
                        "depot.Audit/send"))
                .isEqualTo(new Part(Part.Kind.RESOLVER, "Audit.send"));
    }

    @Test
    void waitForAConnectionOfAnApacheClientIsRecognized() {
        StackTraceElement[] leasing = {
            new StackTraceElement("jdk.internal.misc.Unsafe", "park", null, -2),
            new StackTraceElement("org.apache.hc.core5.pool.StrictConnPool", "lease", null, 1),
            new StackTraceElement("org.apache.hc.client5.http.impl.classic.MainClientExec", "execute", null, 1),
            new StackTraceElement("shop.Orders", "place", "Orders.java", 12)
        };
        StackTraceElement[] reading = {
            new StackTraceElement("sun.nio.ch.Net", "poll", null, -2),
            new StackTraceElement("org.apache.hc.core5.http.impl.io.SessionInputBufferImpl", "fillBuffer", null, 1),
            new StackTraceElement("shop.Orders", "place", "Orders.java", 12)
        };

        assertThat(StackReader.waitsForHttpConnection(waiting(leasing))).isTrue();
        assertThat(StackReader.waitsForHttpConnection(waiting(reading))).isFalse();
    }

    private static ThreadSnapshot waiting(StackTraceElement[] frames) {
        return new ThreadSnapshot("rpc-worker-1", 7, Thread.State.WAITING, frames, null, null, -1, -1);
    }

    @Test
    void clientLibrariesAndPoolsAreNoApplicationCode() {
        Stream<String> libraries =
                Libraries.LIBRARIES.stream().map(Libraries.Library::prefix).filter(prefix -> prefix.endsWith("."));

        assertThat(Stream.concat(libraries, Libraries.POOLS.stream()))
                .allSatisfy(prefix -> assertThat(ApplicationCode.owns(prefix + "Some"))
                        .as(prefix)
                        .isFalse());
    }

    @ParameterizedTest
    @CsvSource({
        "tools.jackson.core.json.UTF8StreamJsonParser/_finishString, readWithMessageConverters, reading of requests",
        "tools.jackson.core.json.UTF8JsonGenerator/writeName, writeWithMessageConverters, writing of answers"
    })
    void bodiesOfWebRequestsHaveOneNameAlsoBelowAFilterOfTheApplication(String inner, String method, String name) {
        assertThat(computingIn(
                        inner,
                        "org.springframework.web.servlet.mvc.method.annotation.RequestResponseBodyMethodProcessor/"
                                + method,
                        "org.springframework.web.servlet.DispatcherServlet/doDispatch",
                        "org.apache.catalina.core.ApplicationFilterChain/doFilter",
                        "depot.TraceFilter/doFilterInternal"))
                .isEqualTo(new Part(Part.Kind.COMPUTING, name));
    }

    @Test
    void filterOfALibraryIsNamedByItsOwnWork() {
        ThreadSnapshot thread = computing(
                "org.springframework.security.crypto.bcrypt.BCrypt/key",
                "org.springframework.security.crypto.bcrypt.BCrypt/hashpw",
                "org.springframework.security.authentication.ProviderManager/authenticate",
                "org.springframework.security.web.authentication.www.BasicAuthenticationFilter/doFilterInternal",
                "org.springframework.web.filter.OncePerRequestFilter/doFilter",
                "org.springframework.security.web.FilterChainProxy$VirtualFilterChain/doFilter",
                "org.springframework.security.web.header.HeaderWriterFilter/doFilterInternal",
                "org.springframework.web.filter.OncePerRequestFilter/doFilter");

        assertThat(StackReader.read(thread))
                .isEqualTo(new Part(Part.Kind.COMPUTING, "BasicAuthenticationFilter.doFilterInternal"));
        assertThat(Hints.computing(CalledMethods.of(thread))).contains("a lower cost factor");
    }

    private static final String[] VALIDATION = {
        "org.springframework.validation.beanvalidation.SpringValidatorAdapter/validate",
        "org.springframework.web.servlet.mvc.method.annotation.RequestResponseBodyMethodProcessor/resolveArgument",
        "org.springframework.web.servlet.mvc.method.AbstractHandlerMethodAdapter/handle",
        "org.springframework.web.servlet.DispatcherServlet/doDispatch",
        "org.apache.catalina.core.ApplicationFilterChain/doFilter"
    };

    @Test
    void computingOfAFrameworkIsAdvisedAsIfTheApplicationDidIt() {
        ThreadSnapshot thread = computing(Stream.concat(
                        Stream.of(
                                "java.util.regex.Pattern$Loop/match",
                                "java.util.regex.Matcher/matches",
                                "org.hibernate.validator.internal.constraintvalidators.bv.PatternValidator/isValid"),
                        Stream.of(VALIDATION))
                .toArray(String[]::new));

        assertThat(CalledMethods.of(thread)).isEqualTo("Matcher.matches");
        assertThat(Hints.computing(CalledMethods.of(thread))).contains("without nested or adjacent quantifiers");
    }

    @Test
    void computingOfAFrameworkHasTheNameOfTheFirstCodeThatDoesMoreThanPassItOn() {
        ThreadSnapshot thread = computing(VALIDATION);

        assertThat(StackReader.read(thread)).isEqualTo(new Part(Part.Kind.COMPUTING, "DispatcherServlet.doDispatch"));
        assertThat(CalledMethods.of(thread)).isEqualTo("SpringValidatorAdapter.validate");
    }

    @Test
    void peerOfAFilterIsKnownByTheFirstCodeThatDoesMoreThanPassTheWorkOn() {
        ThreadSnapshot thread = look(
                Thread.State.RUNNABLE,
                "sun.nio.ch.NioSocketImpl/park",
                "com.sun.jndi.ldap.Connection/readReply",
                "org.springframework.ldap.core.LdapTemplate/search",
                "org.springframework.security.authentication.ProviderManager/authenticate",
                "org.springframework.security.web.authentication.www.BasicAuthenticationFilter/doFilterInternal");

        assertThat(CalledMethods.of(thread)).isEqualTo("LdapTemplate.search");
    }

    @ParameterizedTest
    @CsvSource({
        "org.springframework.http.codec.AbstractJacksonEncoder, encodeValue, server, writing of answers",
        "org.springframework.http.codec.AbstractJacksonEncoder, lambda$encode$1, client, writing of answers",
        "org.springframework.http.codec.AbstractJacksonDecoder, decode, server, reading of requests",
        "org.springframework.http.codec.AbstractJacksonDecoder, decode, client, UTF8JsonGenerator.writeName"
    })
    void bodiesOfReactiveRequestsHaveOneName(String codec, String method, String side, String name) {
        assertThat(computingIn(
                        "tools.jackson.core.json.UTF8JsonGenerator/writeName",
                        codec + "/" + method,
                        "reactor.core.publisher.FluxMap$MapSubscriber/onNext",
                        "reactor.netty.http." + side + ".HttpOperations/onInboundNext"))
                .isEqualTo(new Part(Part.Kind.COMPUTING, name));
    }

    @Test
    void methodWithAdviceOfItsOwnIsNamedAlthoughAnotherOneCalledIt() {
        ThreadSnapshot thread = computing(
                "tools.jackson.databind.introspect.POJOPropertiesCollector/collectAll",
                "tools.jackson.databind.ObjectMapper/writeValueAsString",
                "depot.Orders/list");

        assertThat(CalledMethods.of(thread)).isEqualTo("POJOPropertiesCollector.collectAll");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sun.nio.ch.NioSocketImpl/connect",
                "sun.nio.ch.NioSocketImpl/timedFinishConnect",
                "sun.security.ssl.SSLSocketImpl/startHandshake",
                "sun.security.ssl.TransportContext/kickstart"
            })
    void newConnectionOfAClientIsRecognized(String opens) {
        String read = "sun.security.ssl.SSLSocketInputRecord/read";

        assertThat(NewConnections.isOpening(
                        computing("sun.nio.ch.Net/poll", opens, "okhttp3.Call/execute", "depot.A/b")))
                .isTrue();
        assertThat(NewConnections.isOpening(
                        computing("sun.nio.ch.Net/poll", read, "okhttp3.Call/execute", "depot.A/b")))
                .isFalse();
        assertThat(NewConnections.isOpening(computing("java.lang.Thread/sleep", "depot.A/b", opens)))
                .isFalse();
    }

    @Test
    void databaseConnectionThatIsOpenedWithoutAPoolIsRecognized() {
        String read = "sun.nio.ch.NioSocketImpl/park";
        String driver = "org.postgresql.Driver/connect";

        assertThat(waitingIn(read, driver, "java.sql.DriverManager/getConnection", "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.SQL, "called in Tracking.track, which opens a connection"));
        assertThat(waitingIn(read, "org.postgresql.jdbc.PgStatement/execute", "depot.Tracking/track"))
                .isEqualTo(new Part(Part.Kind.SQL, "called in Tracking.track"));
    }
}
