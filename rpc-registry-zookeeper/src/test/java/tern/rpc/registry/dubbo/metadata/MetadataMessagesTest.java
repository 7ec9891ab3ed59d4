package tern.rpc.registry.dubbo.metadata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import tern.rpc.registry.dubbo.ApplicationMetadata;
import tern.rpc.registry.dubbo.Limits;
import tern.rpc.serialization.SerializationException;

/**
 * Tests both formats of the metadata service's response. Other tests exchange these formats with real Dubbo
 * applications.
 */
class MetadataMessagesTest {

    private static ApplicationMetadata metadata(int services, Map<String, String> parameters) {
        Map<String, ApplicationMetadata.Service> all = new HashMap<>();
        for (int i = 0; i < services; i++) {
            ApplicationMetadata.Service service =
                    new ApplicationMetadata.Service("a.B" + i, "g", "1.0", "dubbo", 20880, "a.B" + i, parameters);
            all.put(service.key(), service);
        }
        return ApplicationMetadata.of("shop", all);
    }

    private static Map<String, String> parameters(int number, String value) {
        Map<String, String> parameters = new HashMap<>();
        for (int i = 0; i < number; i++) {
            parameters.put("k" + i, value);
        }
        return parameters;
    }

    @Test
    void writtenAnswersAreReadAgain() {
        ApplicationMetadata metadata = metadata(3, Map.of("weight", "50", "empty", ""));

        assertThat(MetadataMessages.metadata(MetadataMessages.answer(metadata))).isEqualTo(metadata);
        assertThat(WireMetadata.of(metadata).read()).isEqualTo(metadata);
    }

    @Test
    void answersThatExceedTheLimitsAreRefused() {
        ApplicationMetadata tooManyServices = metadata(Limits.MAX_SERVICES + 1, Map.of());
        ApplicationMetadata tooManyParameters = metadata(1, parameters(Limits.MAX_KEYS + 1, ""));
        ApplicationMetadata tooLong = metadata(50, parameters(100, "x".repeat(250)));

        for (ApplicationMetadata metadata : new ApplicationMetadata[] {tooManyServices, tooManyParameters, tooLong}) {
            byte[] answer = MetadataMessages.answer(metadata);
            assertThatThrownBy(() -> MetadataMessages.metadata(answer))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("more than");
            assertThatThrownBy(() -> WireMetadata.of(metadata).read())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("more than");
        }
    }

    @Test
    void brokenAnswersAreRefused() {
        byte[] answer = MetadataMessages.answer(metadata(2, Map.of("weight", "50")));
        Random random = new Random(1);

        for (int i = 0; i < 10_000; i++) {
            byte[] broken = answer.clone();
            for (int change = random.nextInt(4); change >= 0; change--) {
                broken[random.nextInt(broken.length)] = (byte) random.nextInt();
            }
            try {
                MetadataMessages.metadata(broken);
            } catch (SerializationException | IllegalArgumentException expected) {
                assertThat(expected).hasMessageMatching("(?s).+");
            }
        }
    }
}
