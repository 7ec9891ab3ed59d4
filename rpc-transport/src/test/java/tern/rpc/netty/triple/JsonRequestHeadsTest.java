package tern.rpc.netty.triple;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.Deadline;
import tern.rpc.Invocation;
import tern.rpc.Metadata;
import tern.rpc.MethodDescriptor;
import tern.rpc.ServiceDescriptor;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.Endpoint;

class JsonRequestHeadsTest {

    interface Greeting {
        String greet(String name);
    }

    private static final MethodDescriptor GREET =
            ServiceDescriptor.of(Greeting.class).methods().get(0);
    private static final ServiceKey KEY = new ServiceKey("a.Greeting", "", "");

    private final JsonRequestHeads heads = new JsonRequestHeads();

    private JsonRequestHead head(int port) {
        return heads.of(KEY, GREET, "shop", new Endpoint("10.0.0.7", port));
    }

    @Test
    void headOfAMethodAtAnEndpointIsMadeOnce() {
        assertThat(head(1)).isSameAs(head(1)).isNotSameAs(head(2));
    }

    /** The host header must contain the looked-up name, because a proxy chooses the server by this name. */
    @Test
    void headNamesTheHostThatWasLookedUp() {
        Endpoint endpoint = new Endpoint("10.0.0.7", 80, "orders.internal");
        Invocation call =
                new Invocation(KEY, GREET, new Object[] {"x"}, new Metadata(), Deadline.none(), Runnable::run);

        byte[] head = heads.of(KEY, GREET, "shop", endpoint).bytes(call, false, 0, 0, 0);

        assertThat(new String(head, ISO_8859_1)).contains("\r\nhost: orders.internal:80\r\n");
    }

    @Test
    void headsOfManyEndpointsAreNotKeptForEver() {
        for (int port = 1; port <= 3 * JsonRequestHeads.MAX_HEADS; port++) {
            head(port);
        }

        assertThat(heads.size()).isLessThanOrEqualTo(JsonRequestHeads.MAX_HEADS);
        JsonRequestHead last = head(3 * JsonRequestHeads.MAX_HEADS);
        assertThat(head(3 * JsonRequestHeads.MAX_HEADS)).isSameAs(last);
    }
}
