package tern.rpc.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HashesTest {

    private record User(TimeUnit unit, byte[] name, List<TimeUnit> units) {}

    private static User user(String name) {
        return new User(TimeUnit.DAYS, name.getBytes(StandardCharsets.UTF_8), List.of(TimeUnit.HOURS));
    }

    @Test
    void equalContentHasTheSameHash() {
        assertThat(Hashes.ofKey(new byte[] {1, 2})).isEqualTo(Hashes.ofKey(new byte[] {1, 2}));
        assertThat(Hashes.ofKey(new byte[] {1, 2})).isNotEqualTo(Hashes.ofKey(new byte[] {2, 1}));
        assertThat(Hashes.ofKey(new int[][] {{1}, {2}})).isEqualTo(Hashes.ofKey(new int[][] {{1}, {2}}));
        assertThat(Hashes.ofKey(user("ann"))).isEqualTo(Hashes.ofKey(user("ann")));
        assertThat(Hashes.ofKey(user("ann"))).isNotEqualTo(Hashes.ofKey(user("bob")));
    }

    /** The hash code of an enum constant differs between processes, but its name does not. */
    @Test
    void enumsAreHashedByName() {
        assertThat(Hashes.ofKey(TimeUnit.DAYS)).isEqualTo(Hashes.ofKey("DAYS"));
        assertThat(Hashes.ofKey(List.of(TimeUnit.DAYS))).isEqualTo(Hashes.ofKey(List.of("DAYS")));
        assertThat(Hashes.ofKey(Map.of(TimeUnit.DAYS, 1))).isEqualTo(Hashes.ofKey(Map.of("DAYS", 1)));
    }

    @Test
    void classWithoutAHashCodeIsNamedOnce() {
        class Plain {}
        try (LoggedLines lines = new LoggedLines()) {
            Hashes.ofKey(new Plain());
            Hashes.ofKey(new Plain());

            assertThat(lines.all()).hasSize(1).first().asString().contains(Plain.class.getName(), "hashCode");
        }
    }
}
