package tern.rpc.pool;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Distinguishes application code from library code by class names. */
public final class ApplicationCode {

    /** The package prefixes of the JDK and of libraries. */
    private static final List<String> LIBRARIES = List.of(
            "java.",
            "javax.",
            "jakarta.",
            "jdk.",
            "sun.",
            "com.sun.",
            "kotlin.",
            "scala.",
            "org.springframework.",
            "org.apache.",
            "org.hibernate.",
            "org.mybatis.",
            "com.baomidou.",
            "org.jooq.",
            "org.eclipse.",
            "org.slf4j.",
            "org.aspectj.",
            "org.h2.",
            "org.hsqldb.",
            "org.sqlite.",
            "org.mariadb.",
            "org.postgresql.",
            "com.mysql.",
            "com.microsoft.sqlserver.",
            "oracle.",
            "com.alibaba.csp.",
            "com.alibaba.druid.",
            "com.alibaba.fastjson.",
            "com.alibaba.fastjson2.",
            "com.alibaba.nacos.",
            "com.aliyun.",
            "com.amazonaws.",
            "com.azure.",
            "com.datastax.",
            "com.esotericsoftware.",
            "com.github.pagehelper.",
            "com.hazelcast.",
            "com.mongodb.",
            "com.netflix.",
            "com.nimbusds.",
            "com.rabbitmq.",
            "cn.hutool.",
            "co.elastic.",
            "graphql.",
            "groovy.",
            "io.github.resilience4j.",
            "io.jsonwebtoken.",
            "io.minio.",
            "io.opentracing.",
            "io.prometheus.",
            "io.r2dbc.",
            "io.seata.",
            "io.smallrye.",
            "io.vertx.",
            "javassist.",
            "net.sf.ehcache.",
            "net.spy.",
            "org.asynchttpclient.",
            "org.bouncycastle.",
            "org.bson.",
            "org.codehaus.",
            "org.ehcache.",
            "org.elasticsearch.",
            "org.jboss.",
            "org.opensearch.",
            "org.quartz.",
            "org.redisson.",
            "org.yaml.",
            "software.amazon.",
            "com.zaxxer.",
            "com.fasterxml.",
            "tools.jackson.",
            "com.google.",
            "com.github.benmanes.",
            "com.lmax.",
            "ch.qos.logback.",
            "io.netty.",
            "io.grpc.",
            "io.lettuce.",
            "io.micrometer.",
            "io.opentelemetry.",
            "io.undertow.",
            "okhttp3.",
            "okio.",
            "reactor.",
            "redis.clients.",
            "net.bytebuddy.",
            "feign.");

    /** The packages of Tern RPC. An application may have its own packages under {@code tern.rpc}. */
    private static final Set<String> OURS = Set.of(
            "client",
            "concurrent",
            "diagnosis",
            "endpoint",
            "evidence",
            "limit",
            "metrics",
            "pool",
            "serialization",
            "server",
            "settings",
            "spring",
            "stream",
            "transport",
            "filter");

    private static final String OUR_ROOT = "tern.rpc.";

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
        for (String prefix : LIBRARIES) {
            if (className.startsWith(prefix)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the application's innermost frame; null if there is none. */
    public static @Nullable StackTraceElement first(StackTraceElement[] frames) {
        for (StackTraceElement frame : frames) {
            if (owns(frame.getClassName())) {
                return frame;
            }
        }
        return null;
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
