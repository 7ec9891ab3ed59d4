package tern.rpc.spring.firstday;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import slim.caller.CallerOnly;
import slim.dubbo.DubboOnly;
import slim.grpc.GrpcOnly;

/** Tests applications that exclude unused modules (docs/modules.md). */
@Timeout(240)
class LeftOutModulesTest {

    private static final String ANY_PORT = "--rpc.server.port=0";

    @TempDir
    Path folder;

    @Test
    void grpcAloneNeedsNeitherHessianNorJson() throws Exception {
        String output = StarterJars.resolve()
                .without("rpc-hessian", "rpc-json")
                .withGrpc()
                .run(folder, GrpcOnly.class, ANY_PORT);

        assertThat(output).contains("balance 5").contains("tri");
        assertNoWarning(output);
    }

    @Test
    void dubboAloneNeedsNeitherProtobufNorJson() throws Exception {
        String output =
                StarterJars.resolve().without("rpc-protobuf", "rpc-json").run(folder, DubboOnly.class, ANY_PORT);

        assertThat(output).contains("Good morning, Ada; Good morning, Bob");
        assertNoWarning(output);
    }

    /** Ignores warnings about slow calls, because the first calls can be slow on a busy machine. */
    private static void assertNoWarning(String output) {
        assertThat(output.lines())
                .filteredOn(line -> !line.contains(" took "))
                .noneMatch(line -> line.contains(" WARN ") || line.contains("Exception"));
    }

    @Test
    void javaValuesWithoutHessianStopTheStart() throws Exception {
        String output = StarterJars.resolve().without("rpc-hessian").run(folder, DubboOnly.class, ANY_PORT);

        Messages.assertSays("modules left out: Java values", explanation(output));
    }

    @Test
    void dubboReferenceWithoutHessianStopsTheStart() throws Exception {
        String output = StarterJars.resolve().without("rpc-hessian").run(folder, CallerOnly.class, ANY_PORT);

        Messages.assertSays("modules left out: reference over dubbo", explanation(output));
    }

    @Test
    void generatedServiceWithoutProtobufStopsTheStart() throws Exception {
        String output = StarterJars.resolve().without("rpc-protobuf").withGrpc().run(folder, GrpcOnly.class, ANY_PORT);

        Messages.assertSays("modules left out: generated service", explanation(output));
    }

    @Test
    void reflectionWithoutProtobufStopsTheStart() throws Exception {
        String output = StarterJars.resolve()
                .without("rpc-protobuf")
                .run(folder, DubboOnly.class, ANY_PORT, "--rpc.server.reflection=true");

        Messages.assertSays("modules left out: reflection", explanation(output));
    }

    private static String explanation(String output) {
        assertThat(output).contains("APPLICATION FAILED TO START");
        return output.substring(output.indexOf("Description:"));
    }
}
