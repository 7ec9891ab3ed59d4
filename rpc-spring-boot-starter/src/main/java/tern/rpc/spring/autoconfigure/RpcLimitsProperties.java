package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Values as they are written.
 *
 * @param maxMessage Largest request and largest answer, in and out, where they have no limit of their own.
 * @param maxRequest Largest request, read by servers and written by clients; max-message when not set.
 * @param maxResponse Largest answer, written by servers and read by clients; max-message when not set.
 * @param maxConnections Number of connections that a server accepts.
 * @param maxConnectionsPerHost Number of connections that a server accepts from one address.
 * @param maxCallsPerConnection Number of calls on one connection that are not answered yet, on either side.
 * @param maxInboundBytes Largest amount of requests of all connections that are not complete or that no thread has read;
 *     256 MB, but no more than a quarter of heap and direct memory, when not set.
 * @param maxUnsent Largest amount of requests on one connection that the socket has not taken yet.
 * @param maxUnsentPerStream Largest amount of answers that one stream keeps for a caller that reads slowly, beside one
 *     message; a stream with more is ended.
 * @param maxUnsentAnswers Largest amount of answers that callers have not taken, over all connections; above it, streams that
 *     have more to send are ended, and with two and four times as much connections that do not read are closed.
 * @param maxStreamWait Longest time that a thread of the server waits for a caller that reads a stream slowly, until the
 *     caller has taken 32 KB more.
 * @param firstBytesTimeout Longest time from the first byte of a connection until its protocol is known, and for the head
 *     of a request of HTTP/1.1; after the same time the body of a request has to come at 1 KiB a second.
 * @param maxDepth Number of values inside values that one message may nest.
 * @param maxValues Number of values that one message may hold.
 * @param maxCompositeKeys Number of keys of one map, or elements of one set, that are not text, numbers and the like.
 * @param maxEqualKeys Number of keys of one map, or elements of one set, that have the same hash and no order among each
 *     other.
 * @param maxKeySteps Number of parts of keys and elements of sets that reading one message may hash or compare.
 * @param maxUnpackedRatio Number of bytes that a compressed message of more than 1 MiB may have for each byte that travels.
 * @param allowedClasses Classes that may be read beyond those that the service interfaces name, each a class name or a
 *     package that ends in .* or, with those below it, in .**.
 * @param auditClasses Whether classes that are not allowed are read all the same and named in the log, to find out what
 *     has to be allowed.
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
