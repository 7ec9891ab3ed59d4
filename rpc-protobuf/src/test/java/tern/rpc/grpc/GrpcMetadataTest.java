package tern.rpc.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import tern.rpc.Metadata;

class GrpcMetadataTest {

    @Test
    void nameThatBecomesAsciiInLowerCaseIsLeftOut() {
        Metadata metadata = new Metadata().put("x-\u212Aey", "kelvin").put("X-User", "ada");

        assertThat(GrpcMetadata.from(metadata).keys()).containsExactly("x-user");
    }
}
