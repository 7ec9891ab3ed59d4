package tern.rpc.netty.triple;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.WireName;

@SuppressWarnings("UnicodeInCode") // The test uses only the names of these methods.
class RequestHeadTest {

    private static final ServiceKey SERVICE = new ServiceKey("example.Greetings", "", "");
    private static final String PROBLEM = "the path '/example.Greetings/grüße' contains characters other than ASCII,"
            + " which HTTP does not allow; set the name of the method with @WireName, or use the protocol dubbo";

    interface Greetings {
        String grüße(String name);
    }

    interface NamedGreetings {
        @WireName("gruesse")
        String grüße(String name);
    }

    private static MethodDescriptor method(Class<?> service) {
        return ServiceDescriptor.of(service).methods().get(0);
    }

    @Test
    void methodWhoseNameIsNotAsciiIsExplained() {
        assertThatThrownBy(() -> new RequestHead(SERVICE, method(Greetings.class), ""))
                .hasMessage(PROBLEM);
        assertThatThrownBy(() -> new JsonRequestHead(SERVICE, method(Greetings.class), "", "localhost"))
                .hasMessage(PROBLEM);
        assertThat(new RequestHead(SERVICE, method(NamedGreetings.class), "")
                        .path()
                        .toString())
                .isEqualTo("/example.Greetings/gruesse");
    }
}
