package tern.rpc.diagnosis.stack;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import tern.rpc.diagnosis.account.Part.Kind;
import tern.rpc.pool.ApplicationCode;

/**
 * Lists client libraries in which threads wait for other processes, and libraries with pools of database connections.
 */
public final class Libraries {

    /**
     * A client library in which a thread can wait for another process, such as a database. The library is recognized by
     * the prefix of its class names.
     */
    record Library(String prefix, Kind kind) {}

    static final List<Library> LIBRARIES = List.of(
            new Library("jdk.internal.net.http.", Kind.HTTP),
            new Library("org.springframework.http.client.", Kind.HTTP),
            new Library("org.springframework.web.client.", Kind.HTTP),
            new Library("org.elasticsearch.client.", Kind.HTTP),
            new Library("co.elastic.clients.", Kind.HTTP),
            new Library("com.amazonaws.", Kind.HTTP),
            new Library("software.amazon.awssdk.", Kind.HTTP),
            new Library("sun.net.www.protocol.http", Kind.HTTP),
            new Library("okhttp3.", Kind.HTTP),
            new Library("org.apache.http.", Kind.HTTP),
            new Library("org.apache.hc.", Kind.HTTP),
            new Library("org.asynchttpclient.", Kind.HTTP),
            new Library("feign.", Kind.HTTP),
            new Library("retrofit2.", Kind.HTTP),
            new Library("org.springframework.web.reactive.function.client.", Kind.HTTP),
            new Library("org.springframework.ws.client.", Kind.HTTP),
            new Library("reactor.netty.http.client.", Kind.HTTP),
            new Library("org.eclipse.jetty.client.", Kind.HTTP),
            new Library("org.glassfish.jersey.client.", Kind.HTTP),
            new Library("org.apache.cxf.", Kind.HTTP),
            new Library("com.google.api.client.http.", Kind.HTTP),
            new Library("com.google.cloud.", Kind.HTTP),
            new Library("com.azure.", Kind.HTTP),
            new Library("org.opensearch.client.", Kind.HTTP),
            new Library("io.minio.", Kind.HTTP),
            new Library("redis.clients.", Kind.REDIS),
            new Library("io.lettuce.", Kind.REDIS),
            new Library("org.redisson.", Kind.REDIS),
            new Library("io.grpc.stub.ClientCalls", Kind.RPC),
            new Library("org.apache.dubbo.", Kind.RPC),
            new Library("tern.rpc.client.", Kind.RPC),
            new Library("tern.rpc.transport.PendingCall", Kind.RPC),
            new Library("org.apache.thrift.", Kind.RPC),
            new Library("com.mongodb.", Kind.SQL),
            new Library("com.datastax.", Kind.SQL),
            new Library("com.ibm.db2.", Kind.SQL),
            new Library("com.clickhouse.", Kind.SQL),
            new Library("com.couchbase.", Kind.SQL),
            new Library("org.neo4j.driver.", Kind.SQL),
            new Library("net.snowflake.", Kind.SQL),
            new Library("com.sap.db.", Kind.SQL),
            new Library("com.sybase.", Kind.SQL),
            new Library("org.duckdb.", Kind.SQL),
            new Library("org.h2.", Kind.SQL),
            new Library("org.hsqldb.", Kind.SQL),
            new Library("org.apache.derby.", Kind.SQL),
            new Library("org.sqlite.", Kind.SQL),
            new Library("com.mysql.", Kind.SQL),
            new Library("org.mariadb.", Kind.SQL),
            new Library("org.postgresql.", Kind.SQL),
            new Library("oracle.jdbc.", Kind.SQL),
            new Library("com.microsoft.sqlserver.", Kind.SQL),
            new Library("org.apache.kafka.", Kind.SOCKET),
            new Library("org.apache.rocketmq.", Kind.SOCKET),
            new Library("com.rabbitmq.", Kind.SOCKET),
            new Library("org.apache.zookeeper.", Kind.SOCKET),
            new Library("com.hazelcast.", Kind.SOCKET),
            new Library("org.apache.pulsar.", Kind.SOCKET),
            new Library("org.apache.activemq.", Kind.SOCKET),
            new Library("org.apache.qpid.", Kind.SOCKET),
            new Library("com.ibm.mq.", Kind.SOCKET),
            new Library("com.ibm.msg.", Kind.SOCKET),
            new Library("io.nats.", Kind.SOCKET),
            new Library("net.spy.memcached.", Kind.SOCKET),
            new Library("net.rubyeye.xmemcached.", Kind.SOCKET),
            new Library("io.etcd.", Kind.SOCKET),
            new Library("sun.rmi.transport.", Kind.SOCKET),
            new Library("org.apache.commons.net.", Kind.SOCKET),
            new Library("com.jcraft.jsch.", Kind.SOCKET),
            new Library("org.apache.sshd.client.", Kind.SOCKET),
            new Library("com.sun.jndi.ldap.", Kind.SOCKET),
            new Library("com.unboundid.ldap.", Kind.SOCKET),
            new Library("org.springframework.amqp.", Kind.SOCKET),
            new Library("org.springframework.kafka.", Kind.SOCKET),
            new Library("org.apache.ignite.", Kind.SOCKET),
            new Library("org.infinispan.client.", Kind.SOCKET),
            new Library("com.aerospike.client.", Kind.SOCKET),
            new Library("com.sun.mail.", Kind.SOCKET),
            new Library("org.eclipse.angus.mail.", Kind.SOCKET));

    /**
     * Class-name prefixes of the code that runs an embedded database's statements. A thread that runs this code does
     * the database's work rather than only reading results.
     */
    private static final List<String> ENGINES = List.of(
            "org.h2.command.CommandContainer",
            "org.h2.command.query.",
            "org.h2.command.dml.",
            "org.h2.mvstore.",
            "org.hsqldb.StatementD",
            "org.hsqldb.persist.",
            "org.apache.derby.impl.sql.execute.",
            "org.sqlite.core.NativeDB");

    /** Class-name prefixes of pools that lend database connections. */
    static final List<String> POOLS = List.of(
            "com.zaxxer.hikari.",
            "com.alibaba.druid.pool.DruidDataSource",
            "org.apache.commons.dbcp2.",
            "org.apache.tomcat.jdbc.pool.",
            "com.mchange.v2.",
            "oracle.ucp.",
            "io.agroal.pool.");

    /** The class of Tern's client that pauses before it retries a call. */
    private static final String PUSH_BACK = "tern.rpc.client.PushBack";

    private Libraries() {}

    /** Returns whether a client of the given kind that Tern does not measure pauses before it retries a request. */
    static boolean pausesIn(Kind library, ThreadSnapshot thread) {
        return (library == Kind.HTTP || library == Kind.RPC || library == Kind.REDIS) && pauses(thread);
    }

    /** Returns whether the thread sleeps because of a call from outside the JDK. */
    public static boolean pauses(ThreadSnapshot thread) {
        boolean sleeps = false;
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (type.equals(PUSH_BACK)) {
                return true;
            }
            if (!ThreadSnapshot.isPlatform(type)) {
                return sleeps;
            }
            sleeps |= (type.equals("java.lang.Thread") || type.equals("java.util.concurrent.TimeUnit"))
                    && frame.getMethodName().startsWith("sleep");
        }
        return false;
    }

    static boolean runsStatement(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                return false;
            }
            if (ENGINES.stream().anyMatch(type::startsWith)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether the thread has asked a pool of database connections for a connection and has not received one
     * yet.
     */
    static boolean waitsForDatabaseConnection(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type) || LIBRARIES.stream().anyMatch(library -> type.startsWith(library.prefix))) {
                return false;
            }
            if (frame.getMethodName().startsWith("getConnection") && isPool(type)) {
                return true;
            }
        }
        return false;
    }

    public static boolean isPool(String type) {
        return POOLS.stream().anyMatch(type::startsWith);
    }

    /** Returns the kind of the library that the application's innermost code called; null if the library is unknown. */
    static @Nullable Kind of(ThreadSnapshot thread) {
        Predicate<String> application = ApplicationCode.ownerIn(thread.frames());
        for (StackTraceElement frame : thread.frames()) {
            String type = frame.getClassName();
            if (application.test(type)) {
                return null;
            }
            for (Library library : LIBRARIES) {
                if (type.startsWith(library.prefix)) {
                    return library.kind;
                }
            }
        }
        return null;
    }
}
