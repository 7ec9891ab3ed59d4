package tern.rpc.netty.dubbo;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.Response;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.load.micro.Samples;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.OutputBuffer;
import tern.rpc.serialization.hessian.HessianSerializer;
import tern.rpc.transport.ServiceLookup;
import tern.sample.api.User;
import tern.sample.api.UserService;

/** Measures the cost of writing and reading headers and bodies of the dubbo protocol, without a socket. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class DubboCodecBenchmark {

    private static final ServiceDescriptor SERVICE = ServiceDescriptor.of(UserService.class);
    private static final ServiceKey KEY = new ServiceKey(SERVICE.name(), "", "");
    private static final String APPLICATION = "load";

    private final ObjectWriter writer;
    private final ObjectReader reader;
    private final OutputBuffer out = new OutputBuffer();
    private final Services services = new Services();
    private final Invocation exists = call("existUser", "1236");
    private final Invocation creates = call("createUser", Samples.user());
    private final Invocation gets = call("getUser", 7L);
    private final Response user = Response.of(Samples.user());
    private final DubboRequestBody.Prepared existPrepared;
    private final DubboRequestBody.Prepared createPrepared;
    private final byte[] existRequest;
    private final byte[] createRequest;
    private final byte[] userAnswer;
    private final byte[] header = new byte[DubboHeader.BYTES];

    public DubboCodecBenchmark() {
        HessianSerializer serializer = HessianSerializer.builder().build();
        serializer.prepare(SERVICE);
        writer = serializer.newWriter();
        reader = serializer.newReader();
        existPrepared = prepared(exists.method());
        createPrepared = prepared(creates.method());
        existRequest = writeShortRequest().toByteArray();
        createRequest = writeUserRequest().toByteArray();
        userAnswer = writeUserAnswer().toByteArray();
    }

    private static Invocation call(String method, Object argument) {
        return new Invocation(
                KEY,
                SERVICE.overloads(method).get(0),
                new Object[] {argument},
                new Metadata(),
                Deadline.at(System.nanoTime() + TimeUnit.DAYS.toNanos(1)),
                Runnable::run);
    }

    private DubboRequestBody.Prepared prepared(MethodDescriptor method) {
        start();
        DubboRequestBody.writeHead(writer, KEY, method);
        byte[] head = finish().toByteArray();
        start();
        DubboRequestBody.writeFixedAttachments(writer, KEY, APPLICATION);
        return new DubboRequestBody.Prepared(head, finish().toByteArray());
    }

    private void start() {
        out.reset(Integer.MAX_VALUE);
        writer.start(out);
    }

    private OutputBuffer finish() {
        writer.finish();
        return out;
    }

    @Benchmark
    public byte[] writeHeader() {
        DubboHeader.write(header, DubboHeader.FLAG_REQUEST | DubboHeader.HESSIAN2, 0, 42, 177);
        return header;
    }

    /** Writes a request as Tern does. The header and the fixed attachments were encoded when the proxy was created. */
    @Benchmark
    public OutputBuffer writeShortRequest() {
        start();
        DubboRequestBody.write(writer, existPrepared, exists, 0);
        return finish();
    }

    /** Writes a request and encodes the header and all attachments for this call. */
    @Benchmark
    public OutputBuffer writeShortRequestAnew() {
        start();
        DubboRequestBody.writeHead(writer, KEY, exists.method());
        writer.writeObject(exists.arguments()[0]);
        writer.startMap();
        DubboRequestBody.writeFixedAttachments(writer, KEY, APPLICATION);
        writer.endMap();
        return finish();
    }

    @Benchmark
    public OutputBuffer writeUserRequest() {
        start();
        DubboRequestBody.write(writer, createPrepared, creates, 0);
        return finish();
    }

    @Benchmark
    public Object readShortRequest() {
        reader.start(existRequest, 0, existRequest.length);
        return DubboRequestBody.read(reader, services, 0, Runnable::run);
    }

    @Benchmark
    public Object readUserRequest() {
        reader.start(createRequest, 0, createRequest.length);
        return DubboRequestBody.read(reader, services, 0, Runnable::run);
    }

    @Benchmark
    public OutputBuffer writeUserAnswer() {
        start();
        DubboResponseBody.writeValue(writer, user, true);
        return finish();
    }

    @Benchmark
    public @Nullable User readUserAnswer() {
        reader.start(userAnswer, 0, userAnswer.length);
        reader.trust(SERVICE);
        return (User) ((Response) DubboResponseBody.read(reader, gets.method())).value();
    }

    private static final class Services implements ServiceLookup {

        @Override
        public ServiceDescriptor service(String interfaceName) {
            if (!interfaceName.equals(SERVICE.name())) {
                throw new IllegalArgumentException(interfaceName + " is not exported");
            }
            return SERVICE;
        }

        @Override
        public @Nullable MethodDescriptor builtIn(String name, String descriptor) {
            return null;
        }

        @Override
        public void require(ServiceKey key) {}

        @Override
        public ServiceKey withoutGroupAndVersion(String interfaceName) {
            return KEY;
        }

        @Override
        public boolean genericCalls() {
            return false;
        }
    }
}
