package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * The properties under {@code rpc.limits}.
 *
 * @param maxMessage Maximum size of a request or response, unless max-request or max-response is set.
 * @param maxRequest Maximum size of a request, on client and server. Default: max-message.
 * @param maxResponse Maximum size of a response, on client and server. Default: max-message.
 * @param maxConnections Maximum number of connections that a server accepts.
 * @param maxConnectionsPerHost Maximum number of connections that a server accepts from one address.
 * @param maxCallsPerConnection Maximum number of unanswered calls on one connection, on client and server.
 * @param maxInboundBytes Maximum memory, over all connections, for requests that are incomplete or waiting for a
 *     thread. Default: 256 MB, but at most a quarter of heap and direct memory.
 * @param maxUnsent Maximum memory on one connection for requests that are waiting for the socket.
 * @param maxUnsentPerStream Maximum memory for the unread responses of one stream, in addition to one message. A
 *     stream that exceeds this limit is ended.
 * @param maxUnsentAnswers Maximum memory, over all connections, for responses that callers have not read yet. Beyond
 *     the limit, streams that send further messages are ended. Above twice this limit, connections whose clients do not
 *     read are closed; above four times this limit, any connection may be closed.
 * @param maxStreamWait Maximum time that a server thread waits until a slow reader of a stream has read another 32 KB.
 * @param firstBytesTimeout Timeout from the first byte of a connection until its protocol is known, and for the headers
 *     of an HTTP/1.1 request. After this time, the body of a request must arrive at 1 KiB per second or faster.
 * @param maxDepth Maximum nesting depth of values in one message.
 * @param maxValues Maximum number of values in one message in hessian2. Other formats have no such limit.
 * @param maxCompositeKeys Maximum number of keys of one map, or elements of one set, that are neither strings nor
 *     numbers nor similar simple values.
 * @param maxEqualKeys Maximum number of keys of one map, or elements of one set, that have equal hash codes and cannot
 *     be ordered.
 * @param maxKeySteps Maximum number of steps for hashing and comparing the keys and set elements of one message; each
 *     part of a key or element is one step. A hessian2 message below 128 KiB is allowed proportionally fewer steps.
 * @param maxUnpackedRatio Maximum ratio of decompressed to compressed bytes, for requests above 512 KiB and answers
 *     above 1 MiB.
 * @param allowedClasses Classes that may be read in addition to those in the service interfaces. Each entry is a class
 *     name, a package that ends in .*, or a package with its subpackages that ends in .**.
 * @param auditClasses Whether classes that are not allowed are read and logged, to find out which classes to allow.
 */
@ConfigurationProperties("rpc.limits")
record RpcLimitsProperties(
        @DefaultValue("8MB") DataSize maxMessage,
        @Nullable DataSize maxRequest,
        @Nullable DataSize maxResponse,
        @DefaultValue("8192") int maxConnections,
        @DefaultValue("1024") int maxConnectionsPerHost,
        @DefaultValue("1024") int maxCallsPerConnection,
        @Nullable DataSize maxInboundBytes,
        @DefaultValue("64MB") DataSize maxUnsent,
        @DefaultValue("1MB") DataSize maxUnsentPerStream,
        @DefaultValue("64MB") DataSize maxUnsentAnswers,
        @DefaultValue("1s") Duration maxStreamWait,
        @DefaultValue("10s") Duration firstBytesTimeout,
        @DefaultValue("64") int maxDepth,
        @DefaultValue("1048576") int maxValues,
        @DefaultValue("1000") int maxCompositeKeys,
        @DefaultValue("256") int maxEqualKeys,
        @DefaultValue("67108864") long maxKeySteps,
        @DefaultValue("100") int maxUnpackedRatio,
        @DefaultValue List<String> allowedClasses,
        @DefaultValue("false") boolean auditClasses) {}
