package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;
import static tern.rpc.spring.autoconfigure.Applications.provider;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.ServiceDescriptor;
import tern.rpc.client.RpcClient;
import tern.rpc.metrics.Slo;
import tern.rpc.netty.EventLoops;
import tern.rpc.serialization.ObjectReader;
import tern.rpc.serialization.ObjectWriter;
import tern.rpc.serialization.Serializer;
import tern.rpc.serialization.hessian.HessianSerializer;

class FirstCallsTest {

    @Configuration(proxyBeanMethods = false)
    static class Counted {
        @Bean
        CountingSerializer serializer() {
            return new CountingSerializer();
        }
    }

    static class CountingSerializer implements Serializer {
        private final Serializer hessian = HessianSerializer.builder().build();
        final AtomicInteger writers = new AtomicInteger();
        final AtomicInteger readers = new AtomicInteger();

        @Override
        public String name() {
            return hessian.name();
        }

        @Override
        public void prepare(ServiceDescriptor service) {
            hessian.prepare(service);
        }

        @Override
        public ObjectReader newReader() {
            readers.incrementAndGet();
            return hessian.newReader();
        }

        @Override
        public ObjectWriter newWriter() {
            writers.incrementAndGet();
            return hessian.newWriter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Broken {
        @Bean
        Serializer serializer() {
            return new CountingSerializer() {
                @Override
                public ObjectWriter newWriter() {
                    throw new IllegalStateException("cannot write yet");
                }
            };
        }
    }

    @Test
    void providerHasWrittenAndReadBeforeItsFirstCall() {
        provider(Greeter.class, Counted.class).run(there -> {
            CountingSerializer counted = there.getBean(CountingSerializer.class);

            assertThat(counted.writers).hasPositiveValue();
            assertThat(counted.readers).hasPositiveValue();
        });
    }

    @Test
    void clientHasWrittenAndReadBeforeItsFirstCall() {
        application(Counted.class).run(here -> {
            CountingSerializer counted = here.getBean(CountingSerializer.class);
            int before = counted.writers.get();

            here.getBean(RpcClient.class);

            assertThat(before).isZero();
            assertThat(counted.writers).hasPositiveValue();
            assertThat(counted.readers).hasPositiveValue();
        });
    }

    @Test
    void applicationThatOnlyCallsStartsNoEventLoopForFirstCalls() {
        application(Counted.class).run(here -> {
            here.getBean(RpcAutoConfiguration.FIRST_CALLS);

            assertThat(here.getBean(CountingSerializer.class).readers).hasPositiveValue();
            assertThat(here.getBeanFactory().containsSingleton("rpcEventLoops")).isFalse();
        });
    }

    @Test
    void callsOverTheLoopbackInterfaceReachTheirService() {
        CountingSerializer counted = new CountingSerializer();
        try (EventLoops loops = EventLoops.start(1)) {
            FirstCalls.overLoopback(counted, loops);
        }

        assertThat(counted.writers).hasPositiveValue();
        assertThat(counted.readers).hasPositiveValue();
    }

    /**
     * The application itself makes calls at startup, because the first calls in a process are slow. These calls must
     * not cause warnings about slow calls.
     */
    @Test
    void firstCallsCauseNoWarning() {
        Logger log = (Logger) LoggerFactory.getLogger("tern.rpc");
        ListAppender<ILoggingEvent> lines = new ListAppender<>();
        lines.start();
        log.addAppender(lines);
        try (EventLoops loops = EventLoops.start(1)) {
            FirstCalls.overLoopback(new SlowSerializer(), loops);
        } finally {
            log.detachAppender(lines);
        }

        assertThat(lines.list).extracting(ILoggingEvent::getFormattedMessage).isEmpty();
    }

    /** A serializer that takes longer than a call's latency target. */
    static class SlowSerializer extends CountingSerializer {
        @Override
        public ObjectReader newReader() {
            long end = System.nanoTime() + Slo.DEFAULT.latency().toNanos();
            while (System.nanoTime() - end < 0) {
                LockSupport.parkNanos(end - System.nanoTime());
            }
            return super.newReader();
        }
    }

    @Test
    void failureOfTheFirstCallsDoesNotStopTheStart() {
        provider(Greeter.class, Broken.class).run(there -> assertThat(there).hasNotFailed());
    }
}
