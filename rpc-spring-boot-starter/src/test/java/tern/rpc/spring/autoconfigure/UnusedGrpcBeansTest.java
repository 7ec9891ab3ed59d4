package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import com.example.ledger.LedgerGrpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.spring.RpcService;

/** Tests the warnings about grpc-java beans that have no effect. */
@ExtendWith(OutputCaptureExtension.class)
class UnusedGrpcBeansTest {

    static final class Interceptor implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return next.startCall(call, headers);
        }
    }

    static final class Ledger extends LedgerGrpc.LedgerImplBase {}

    @Configuration(proxyBeanMethods = false)
    static class Forgotten {
        @Bean
        ServerInterceptor audit() {
            return new Interceptor();
        }

        @Bean
        Ledger ledger() {
            return new Ledger();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Exported {
        @Bean
        @RpcService
        Ledger ledger() {
            return new Ledger();
        }
    }

    @Test
    void beansWithoutEffectAreNamedOnce(CapturedOutput output) {
        application(Forgotten.class).run(there -> assertThat(there).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("does not call beans of type io.grpc.ServerInterceptor: audit. Write a")
                .containsOnlyOnce("gRPC services without @RpcService are not exported: ledger. Put @RpcService on");
    }

    @Test
    void exportedServiceCausesNoWarning(CapturedOutput output) {
        application(Exported.class)
                .withPropertyValues("rpc.server.port=0")
                .run(there -> assertThat(there).hasNotFailed());

        assertThat(output).doesNotContain("are not exported", "io.grpc.ServerInterceptor");
    }
}
