package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static tern.rpc.spring.autoconfigure.Applications.application;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import tern.rpc.ClientFilter;
import tern.rpc.Filter;
import tern.rpc.ServerFilter;

/** Tests the warning about filters that are never called. */
@ExtendWith(OutputCaptureExtension.class)
class UnusedFiltersTest {

    @Configuration(proxyBeanMethods = false)
    static class Neither {
        @Bean
        Filter audit() {
            return (call, next) -> next.invoke(call);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Sides {
        @Bean
        ServerFilter incoming() {
            return (call, next) -> next.invoke(call);
        }

        @Bean
        ClientFilter outgoing() {
            return (call, next) -> next.invoke(call);
        }
    }

    @Test
    void filterOfNeitherSideIsNamed(CapturedOutput output) {
        application(Neither.class, Sides.class).run(here -> assertThat(here).hasNotFailed());

        assertThat(output).contains("does not call beans of type tern.rpc.Filter: audit. Implement");
    }

    @Test
    void filtersOfASideCauseNoWarning(CapturedOutput output) {
        application(Sides.class).run(here -> assertThat(here).hasNotFailed());

        assertThat(output).doesNotContain("beans of type tern.rpc.Filter");
    }
}
