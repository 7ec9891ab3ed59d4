package tern.rpc.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class TypeCatalogTest {

    private final TypeCatalog types = new TypeCatalog(JsonMapper.builder().build());

    record Node(String name, Node next) {}

    @Test
    void messageHasItsFieldsAndEnums() {
        TypeShape request = types.shape(HealthCheckRequest.class);
        TypeShape response = types.shape(HealthCheckResponse.class);

        assertThat(types.example(request)).isEqualTo(Map.of("service", "text"));
        assertThat(types.definitions().get(response.ref()).kind()).isEqualTo("message");
        assertThat(types.definitions()
                        .get(response.ref())
                        .fields()
                        .get(0)
                        .type()
                        .kind())
                .isEqualTo("enum");
        assertThat(types.definitions()
                        .get("grpc.health.v1.HealthCheckResponse.ServingStatus")
                        .values())
                .contains("SERVING", "NOT_SERVING");
    }

    @Test
    void recursiveTypeRefersToItselfAndItsExampleEnds() {
        TypeShape node = types.shape(Node.class);

        assertThat(types.definitions().get(node.ref()).fields().get(1).type().ref())
                .isEqualTo(node.ref());
        assertThat(types.example(node).toString()).isEqualTo("{name=text, next=null}");
    }

    @Test
    void unknownTypesMayBeAnything() {
        assertThat(types.shape(Object.class).kind()).isEqualTo("any");
        assertThat(types.shape(Runnable.class).kind()).isEqualTo("any");
        assertThat(types.shape(void.class).kind()).isEqualTo("void");
    }
}
