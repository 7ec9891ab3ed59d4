package tern.rpc.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.when;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.stereotype.Component;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import tern.rpc.client.RpcClient;
import tern.rpc.spring.RpcReference;
import tern.rpc.spring.RpcService;

/** Tests which beans a test slice contains. Also tests a scripted provider in an application. */
@Timeout(120)
class RpcTestTest {

    @Nested
    @RpcTest({Clerk.class, Visitor.class})
    class WithBothSides {

        @Test
        void theyCallEachOther(@Autowired Visitor visitor, @Autowired ApplicationContext context) {
            assertThat(visitor.enter()).isEqualTo("Good day, Ada");
            assertThat(context.getBeanNamesForType(RpcClient.class)).hasSize(1);
            assertThat(context.getBeanDefinitionNames()).noneMatch(name -> name.contains("DataSource"));
        }
    }

    @Nested
    @RpcTest(Visitor.class)
    class WithAMock {

        @MockitoBean
        Desk desk;

        @Test
        void consumerIsAlone(@Autowired Visitor visitor) {
            when(desk.greet("Ada")).thenReturn("mocked");

            assertThat(visitor.enter()).isEqualTo("mocked");
        }
    }

    @Nested
    @RpcTest(Visitor.class)
    class WithAScriptedProvider {

        @RegisterExtension
        static final ScriptedProvider provider = ScriptedProvider.of(Desk.class);

        @DynamicPropertySource
        static void address(DynamicPropertyRegistry properties) {
            properties.add("rpc.client.url", provider::address);
        }

        @Test
        void callsTravelOverASocket(@Autowired Visitor visitor) {
            provider.on("greet").answer("scripted");

            assertThat(visitor.enter()).isEqualTo("scripted");
            provider.assertCalled("greet", 1);
        }
    }

    public interface Desk {
        String greet(String name);
    }

    @RpcService
    static class Clerk implements Desk {
        @Override
        public String greet(String name) {
            return "Good day, " + name;
        }
    }

    @Component
    static class Visitor {
        private final Desk desk;

        Visitor(@RpcReference Desk desk) {
            this.desk = desk;
        }

        String enter() {
            return desk.greet("Ada");
        }
    }
}
