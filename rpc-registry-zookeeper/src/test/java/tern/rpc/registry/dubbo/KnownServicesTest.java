package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import tern.rpc.registry.dubbo.ApplicationMetadata.Service;

class KnownServicesTest {

    private final KnownServices known = new KnownServices();

    private static ApplicationMetadata metadata(String revision, String path, Map<String, String> parameters) {
        Service service = new Service("cap.Greeting", "", "", "dubbo", 0, path, parameters);
        return new ApplicationMetadata("shop", revision, Map.of(service.key(), service));
    }

    @Test
    void revisionsThatDifferInUnusedParametersShareTheirServices() {
        Map<String, String> parameters = new HashMap<>(Map.of("zone", "a", "weight", "50", "pid", "1"));
        ApplicationMetadata first = known.add(metadata("r1", "p", parameters));
        parameters.put("pid", "2");
        ApplicationMetadata second = known.add(metadata("r2", "p", parameters));
        parameters.put("weight", "60");
        ApplicationMetadata third = known.add(metadata("r3", "p", parameters));

        assertThat(second).isSameAs(first);
        assertThat(first.services().get("cap.Greeting:dubbo").parameters())
                .isEqualTo(Map.of("zone", "a", "weight", "50"));
        assertThat(third.services().get("cap.Greeting:dubbo").parameters())
                .isEqualTo(Map.of("zone", "a", "weight", "60"));
    }

    @Test
    void differentServicesAreRefusedWhenTheyAreTooLongTogetherAndAcceptedAfterOthersHaveGone() {
        String half = "x".repeat(KnownServices.MAX_CHARACTERS / 2);
        ApplicationMetadata first = known.add(metadata("r1", half, Map.of()));
        ApplicationMetadata next = metadata("r2", half + "y", Map.of());

        assertThatThrownBy(() -> known.add(next))
                .hasMessageContaining("of all revisions")
                .hasMessageContaining("more than");
        assertThat(known.add(metadata("r3", half, Map.of()))).isSameAs(first);
        assertThat(known.add(metadata("r4", "short", Map.of()))).isNotNull();

        known.retain(List.of());

        assertThat(known.add(next)).isEqualTo(next);
    }

    @Test
    void servicesInUseAreKept() {
        ApplicationMetadata first = known.add(metadata("r1", "p", Map.of()));
        known.add(metadata("r2", "q", Map.of()));

        known.retain(List.of(first, first));

        assertThat(known.add(metadata("r3", "p", Map.of()))).isSameAs(first);
    }
}
