package tern.rpc.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests which spellings of addresses in a fixed list belong to one provider. */
class StaticEndpointsTest {

    private static List<Endpoint> listed(Endpoint... endpoints) {
        List<Endpoint> listed = new ArrayList<>();
        new StaticEndpoints(List.of(endpoints))
                .start(snapshot -> snapshot.instances().forEach(instance -> listed.add(instance.endpoint())));
        return listed;
    }

    @ParameterizedTest
    @CsvSource({
        "Shop.Example, shop.example, shop.example",
        "LOCALHOST, localhost, localhost",
        "::1, 0:0:0:0:0:0:0:1, ::1",
        "2001:DB8::A, 2001:0db8:0:0:0:0:0:a, 2001:db8::a",
        "2001:db8:0:1:0:0:0:1, 2001:db8:0:1::1, 2001:db8:0:1::1",
        "1:0:0:2:3:4:5:6, 1::2:3:4:5:6, 1::2:3:4:5:6",
        "1:2:3:4:5:6:7:0, 1:2:3:4:5:6:7:0, 1:2:3:4:5:6:7:0",
        "fe80::1%Eth0, FE80:0:0:0:0:0:0:1%Eth0, fe80::1%Eth0",
        "::ffff:10.0.0.7, 10.0.0.7, 10.0.0.7",
        "::FFFF:a00:7, 10.0.0.7, 10.0.0.7",
    })
    void spellingsOfOneAddressAreOneProvider(String one, String other, String expected) {
        assertThat(listed(new Endpoint(one, 1), new Endpoint(other, 1))).containsExactly(new Endpoint(expected, 1));
        assertThat(listed(new Endpoint(other, 1), new Endpoint(one, 1))).containsExactly(new Endpoint(expected, 1));
        assertThat(new StaticEndpoints(List.of(new Endpoint(one, 1))).key())
                .as("references with both spellings share one source")
                .isEqualTo(new StaticEndpoints(List.of(new Endpoint(other, 1))).key());
    }

    @ParameterizedTest
    @CsvSource({
        // a search domain of the resolver can turn the name "shop" into another name than shop.example
        "shop.example, shop",
        // a search domain of the resolver can turn the name without the final dot into another name
        "shop.example, shop.example.",
        "localhost, 127.0.0.1", // localhost can also mean ::1
        "10.0.0.7, 10.0.0.70",
        "010.0.0.7, 10.0.0.7", // some systems read a number with a leading zero as octal
        "fe80::1%eth0, fe80::1%eth1",
        "a:b, a:c",
    })
    void otherAddressesAreDifferentProviders(String one, String other) {
        assertThat(listed(new Endpoint(one, 1), new Endpoint(other, 1))).hasSize(2);
        assertThat(listed(new Endpoint(one, 1), new Endpoint(one, 2))).hasSize(2);
    }

    @Test
    void attributesOfTheFirstSpellingApply() {
        List<Instance> listed = new ArrayList<>();
        StaticEndpoints.of(List.of(
                        Instance.of(new Endpoint("Shop.example", 1), 7),
                        Instance.of(new Endpoint("shop.example", 1), 9)))
                .start(snapshot -> listed.addAll(snapshot.instances()));

        assertThat(listed).containsExactly(Instance.of(new Endpoint("shop.example", 1), 7));
    }

    @Test
    void dotAtTheEndOfANameIsNotPartOfTheNameInCertificates() {
        assertThat(listed(new Endpoint("shop.example.", 1)))
                .containsExactly(new Endpoint("shop.example.", 1, "shop.example"));
    }

    @Test
    void twoNamesOfOneAddressAreTwoProviders() {
        Endpoint one = new Endpoint("10.0.0.7", 1, "one.example");
        Endpoint two = new Endpoint("10.0.0.7", 1, "two.example");

        assertThat(listed(one, two)).containsExactly(one, two);
    }
}
