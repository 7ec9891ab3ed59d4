package tern.rpc.pool;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes application code from library code by class names. If a stack contains a class from the application's
 * known packages, only classes in these packages count as application code on this stack. On any other stack, every
 * class outside of well-known libraries counts as application code.
 */
public final class ApplicationCode {

    /** The package prefixes of the JDK and of well-known libraries. */
    private static final List<String> LIBRARIES = List.of(
            "akka.",
            "antlr.",
            "bsh.",
            "cglib.",
            "ch.qos.logback.",
            "clojure.",
            "cn.dev33.satoken.",
            "cn.hutool.",
            "co.elastic.",
            "com.aerospike.",
            "com.alibaba.cloud.",
            "com.alibaba.csp.",
            "com.alibaba.druid.",
            "com.alibaba.dubbo.",
            "com.alibaba.excel.",
            "com.alibaba.fastjson.",
            "com.alibaba.fastjson2.",
            "com.alibaba.nacos.",
            "com.alibaba.rocketmq.",
            "com.alibaba.ttl.",
            "com.alicp.jetcache.",
            "com.aliyun.",
            "com.amazonaws.",
            "com.atomikos.",
            "com.auth0.",
            "com.azure.",
            "com.baomidou.",
            "com.clickhouse.",
            "com.codahale.",
            "com.couchbase.",
            "com.ctrip.framework.apollo.",
            "com.dameng.",
            "com.datastax.",
            "com.esotericsoftware.",
            "com.fasterxml.",
            "com.github.benmanes.",
            "com.github.jknack.",
            "com.github.pagehelper.",
            "com.github.rholder.",
            "com.github.xiaoymin.",
            "com.google.",
            "com.googlecode.",
            "com.hazelcast.",
            "com.ibm.db2.",
            "com.ibm.icu.",
            "com.ibm.jms.",
            "com.ibm.mq.",
            "com.ibm.msg.",
            "com.influxdb.",
            "com.itextpdf.",
            "com.jayway.",
            "com.jcraft.",
            "com.kingbase8.",
            "com.lmax.",
            "com.lowagie.",
            "com.mchange.",
            "com.microsoft.azure.",
            "com.microsoft.graph.",
            "com.microsoft.sqlserver.",
            "com.mongodb.",
            "com.mysql.",
            "com.netflix.",
            "com.newrelic.",
            "com.nimbusds.",
            "com.ning.",
            "com.oceanbase.",
            "com.opencsv.",
            "com.orbitz.",
            "com.p6spy.",
            "com.querydsl.",
            "com.rabbitmq.",
            "com.rometools.",
            "com.sap.db.",
            "com.squareup.",
            "com.sun.",
            "com.sybase.",
            "com.taosdata.",
            "com.tdengine.",
            "com.tencentcloudapi.",
            "com.thoughtworks.xstream.",
            "com.twelvemonkeys.",
            "com.typesafe.",
            "com.unboundid.",
            "com.univocity.",
            "com.vaadin.",
            "com.vladmihalcea.",
            "com.xxl.job.core.",
            "com.zaxxer.",
            "dev.failsafe.",
            "dm.jdbc.",
            "feign.",
            "freemarker.",
            "gnu.",
            "graphql.",
            "groovy.",
            "io.agroal.",
            "io.awspring.",
            "io.cloudevents.",
            "io.confluent.",
            "io.debezium.",
            "io.dropwizard.",
            "io.ebean.",
            "io.etcd.",
            "io.fabric8.",
            "io.github.bucket4j.",
            "io.github.classgraph.",
            "io.github.resilience4j.",
            "io.grpc.",
            "io.helidon.",
            "io.javalin.",
            "io.jsonwebtoken.",
            "io.ktor.",
            "io.kubernetes.",
            "io.lettuce.",
            "io.micrometer.",
            "io.micronaut.",
            "io.minio.",
            "io.nats.",
            "io.netty.",
            "io.opentelemetry.",
            "io.opentracing.",
            "io.pebbletemplates.",
            "io.prometheus.",
            "io.quarkus.",
            "io.r2dbc.",
            "io.reactivex.",
            "io.seata.",
            "io.sentry.",
            "io.smallrye.",
            "io.swagger.",
            "io.temporal.",
            "io.trino.",
            "io.undertow.",
            "io.vavr.",
            "io.vertx.",
            "it.unimi.dsi.",
            "jakarta.",
            "java.",
            "javassist.",
            "javax.",
            "jdk.",
            "kong.unirest.",
            "kotlin.",
            "kotlinx.",
            "liquibase.",
            "net.bull.javamelody.",
            "net.bytebuddy.",
            "net.datafaker.",
            "net.javacrumbs.shedlock.",
            "net.jodah.",
            "net.jpountz.",
            "net.logstash.",
            "net.minidev.",
            "net.rubyeye.",
            "net.sf.",
            "net.snowflake.",
            "net.sourceforge.",
            "net.spy.",
            "net.time4j.",
            "net.ttddyy.",
            "ognl.",
            "okhttp3.",
            "okio.",
            "oracle.",
            "org.LatencyUtils.",
            "org.antlr.",
            "org.apache.",
            "org.aspectj.",
            "org.asynchttpclient.",
            "org.attoparser.",
            "org.axonframework.",
            "org.bouncycastle.",
            "org.bson.",
            "org.cache2k.",
            "org.codehaus.",
            "org.cometd.",
            "org.commonmark.",
            "org.dataloader.",
            "org.dom4j.",
            "org.duckdb.",
            "org.eclipse.",
            "org.ehcache.",
            "org.elasticsearch.",
            "org.firebirdsql.",
            "org.flowable.",
            "org.flywaydb.",
            "org.geotools.",
            "org.glassfish.",
            "org.graalvm.",
            "org.h2.",
            "org.hibernate.",
            "org.hsqldb.",
            "org.infinispan.",
            "org.jasypt.",
            "org.jboss.",
            "org.jdbi.",
            "org.jdom.",
            "org.jdom2.",
            "org.jetbrains.",
            "org.jgroups.",
            "org.jline.",
            "org.joda.",
            "org.jooq.",
            "org.jose4j.",
            "org.json.",
            "org.jsoup.",
            "org.keycloak.",
            "org.locationtech.",
            "org.mapstruct.",
            "org.mariadb.",
            "org.mindrot.",
            "org.modelmapper.",
            "org.msgpack.",
            "org.mvel2.",
            "org.mybatis.",
            "org.neo4j.",
            "org.objectweb.",
            "org.objenesis.",
            "org.openjdk.",
            "org.opensaml.",
            "org.opensearch.",
            "org.owasp.",
            "org.pcollections.",
            "org.postgresql.",
            "org.quartz.",
            "org.reactivestreams.",
            "org.redisson.",
            "org.reflections.",
            "org.roaringbitmap.",
            "org.rocksdb.",
            "org.slf4j.",
            "org.springdoc.",
            "org.springframework.",
            "org.sqlite.",
            "org.thymeleaf.",
            "org.togglz.",
            "org.tukaani.",
            "org.unbescape.",
            "org.w3c.",
            "org.wildfly.",
            "org.xerial.",
            "org.xhtmlrenderer.",
            "org.xml.",
            "org.xnio.",
            "org.yaml.",
            "org.zalando.jackson.",
            "org.zalando.logbook.",
            "org.zalando.problem.",
            "oshi.",
            "picocli.",
            "reactor.",
            "redis.clients.",
            "retrofit2.",
            "ru.yandex.clickhouse.",
            "rx.",
            "scala.",
            "software.amazon.",
            "springfox.",
            "sun.",
            "tools.jackson.",
            "zipkin2.");

    /** The packages of Tern RPC. An application may have its own packages under {@code tern.rpc}. */
    private static final Set<String> OURS = Set.of(
            "client",
            "cluster",
            "concurrent",
            "console",
            "diagnosis",
            "endpoint",
            "evidence",
            "grpc",
            "health",
            "limit",
            "metrics",
            "netty",
            "pool",
            "reflection",
            "registry",
            "serialization",
            "server",
            "settings",
            "spring",
            "stream",
            "transport",
            "filter");

    private static final String OUR_ROOT = "tern.rpc.";

    /**
     * Package prefixes derived from sites that host source code. Packages below such a prefix belong to different
     * owners.
     */
    private static final Set<String> HOSTS = Set.of("com.github", "com.gitlab", "io.github", "io.gitlab");

    /** The prefixes of the application's known packages. Each one ends with a dot. */
    private static final CopyOnWriteArrayList<String> KNOWN = new CopyOnWriteArrayList<>();

    private static final int MAX_CACHED = 20_000;

    /**
     * Caches whether a class belongs to a library, because a stack has many frames and the list of libraries is long.
     */
    private static final ConcurrentMap<String, Boolean> CACHE = new ConcurrentHashMap<>();

    private ApplicationCode() {}

    /**
     * Returns whether the class belongs to the application. The result is false for proxies, lambda forms and generated
     * subclasses.
     */
    public static boolean owns(String className) {
        if (className.contains("$$") || className.startsWith("$") || className.indexOf('.') < 0) {
            return false;
        }
        if (className.startsWith(OUR_ROOT)) {
            int end = className.indexOf('.', OUR_ROOT.length());
            return end > 0 && !OURS.contains(className.substring(OUR_ROOT.length(), end));
        }
        return !isOfLibrary(className);
    }

    private static boolean isOfLibrary(String className) {
        Boolean known = CACHE.get(className);
        if (known != null) {
            return known;
        }
        boolean isOfLibrary = LIBRARIES.stream().anyMatch(className::startsWith);
        if (CACHE.size() < MAX_CACHED) {
            CACHE.put(className, isOfLibrary);
        }
        return isOfLibrary;
    }

    /**
     * Adds application packages. Only the first two segments of a package name are used, for example {@code com.acme},
     * because many application classes are in packages next to the package of the main class.
     */
    public static void addPackages(Collection<String> packages) {
        for (String name : packages) {
            String[] parts = name.split("\\.");
            boolean isHosted = parts.length > 2 && HOSTS.contains(parts[0] + "." + parts[1]);
            int length = Math.min(parts.length, isHosted ? 3 : 2);
            if (!name.isEmpty()) {
                KNOWN.addIfAbsent(String.join(".", List.of(parts).subList(0, length)) + ".");
            }
        }
    }

    /** Returns a predicate on class names that recognizes the application's classes on the given stack. */
    public static Predicate<String> ownerIn(StackTraceElement[] stack) {
        if (!KNOWN.isEmpty()) {
            for (StackTraceElement frame : stack) {
                if (isKnown(frame.getClassName())) {
                    return ApplicationCode::isKnown;
                }
            }
        }
        return ApplicationCode::owns;
    }

    /** Returns whether the class is in a package that is known to contain application code. */
    static boolean isKnown(String className) {
        for (String prefix : KNOWN) {
            if (className.startsWith(prefix)) {
                return owns(className);
            }
        }
        return false;
    }

    /**
     * Returns the application's innermost frame, except frames that only forward a call to other code; null if there is
     * none.
     */
    public static @Nullable StackTraceElement first(StackTraceElement[] frames) {
        return ApplicationFrames.of(frames).first();
    }

    /** Returns the frame in the form used in diagnoses, such as {@code OrderRepository.export:84}. */
    public static String shown(StackTraceElement frame) {
        return frame.getLineNumber() > 0 ? method(frame) + ":" + frame.getLineNumber() : method(frame);
    }

    /**
     * Returns the method of the frame, such as {@code OrderRepository.export}. For a lambda, this is the method that
     * contains the lambda.
     */
    public static String method(StackTraceElement frame) {
        String type = frame.getClassName();
        String name = type.substring(type.lastIndexOf('.') + 1).replace('$', '.');
        String method = frame.getMethodName();
        if (method.startsWith("lambda$")) {
            int end = method.indexOf('$', "lambda$".length());
            method = end < 0 ? method : method.substring("lambda$".length(), end);
        }
        return name + "." + method;
    }
}
