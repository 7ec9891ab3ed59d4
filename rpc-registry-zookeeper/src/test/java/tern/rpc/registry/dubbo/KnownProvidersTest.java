package tern.rpc.registry.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tern.rpc.ServiceKey;
import tern.rpc.registry.dubbo.KnownProviders.Provider;

class KnownProvidersTest {

    private static final int MANY = 50_000;
    private static final String INVALID = "dubbo%3A%2F%2F%0A%2Fcap.Greeting";
    private static final String REST =
            "%2Fcap.Greeting%3Fapplication%3Dshop%26interface%3Dcap.Greeting%26timestamp%3D7";

    private final KnownProviders known = new KnownProviders();
    private final List<String> leftOut = new ArrayList<>();

    private boolean replace(List<String> names) {
        return known.replace(names, (name, wrong) -> leftOut.add(name));
    }

    /** Returns the number of current providers that were not among the earlier providers. */
    private int parsedSince(List<Provider> before) {
        Set<Provider> same = Collections.newSetFromMap(new IdentityHashMap<>());
        same.addAll(before);
        return (int) known.providers().stream()
                .filter(provider -> !same.contains(provider))
                .count();
    }

    @Test
    void identicalListIsNotParsedAgain() {
        replace(new ProviderNames(1_000));
        List<Provider> before = known.providers();

        boolean changed = replace(new ProviderNames(1_000));

        assertThat(changed).isFalse();
        assertThat(known.providers()).hasSize(1_000);
        assertThat(parsedSince(before)).isZero();
    }

    @Test
    void onlyTheChangedEntryOfAListIsParsed() {
        List<String> names = new ArrayList<>(new ProviderNames(1_000));
        replace(names);
        List<Provider> before = known.providers();

        names.set(500, ProviderNames.name(500, 9_999, "a"));
        Collections.reverse(names);
        boolean changed = replace(names);

        assertThat(changed).isTrue();
        assertThat(known.providers()).hasSize(1_000);
        assertThat(parsedSince(before)).isEqualTo(1);
        assertThat(known.providers().stream().filter(provider -> provider.host().equals("10.0.1.244")))
                .singleElement()
                .extracting(Provider::startedAtMillis)
                .isEqualTo(9_999L);
    }

    @Test
    void removedEntryIsForgotten() {
        replace(new ProviderNames(1_000));
        List<Provider> before = known.providers();

        boolean changed = replace(new ProviderNames(999));

        assertThat(changed).isTrue();
        assertThat(known.providers()).hasSize(999);
        assertThat(parsedSince(before)).isZero();
    }

    @Test
    void invalidEntryIsReportedOnceWhileItIsInTheList() {
        replace(List.of(INVALID, ProviderNames.name(1, 1, "a")));
        replace(List.of(INVALID, ProviderNames.name(1, 1, "a"), ProviderNames.name(2, 2, "a")));

        assertThat(leftOut).containsExactly(INVALID);
        assertThat(known.providers()).hasSize(2);

        replace(List.of());
        replace(List.of(INVALID));

        assertThat(leftOut).containsExactly(INVALID, INVALID);
    }

    @Test
    void providersThatDifferInAddressAndStartShareTheirAttributesEvenIfTheyComeOneAfterAnother() {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            names.add(ProviderNames.name(i, i, "zone-" + i % 3));
            replace(names);
        }

        assertThat(known.providers().stream().map(provider -> System.identityHashCode(provider.shared())))
                .hasSize(30)
                .satisfies(shared -> assertThat(Set.copyOf(shared)).hasSize(3));
    }

    @Test
    void entryNeedsAtMost125Bytes() {
        List<String> names = new ProviderNames(MANY);

        long before = UsedHeap.bytes();
        replace(names);
        long perEntry = (UsedHeap.bytes() - before) / MANY;

        assertThat(known.providers()).hasSize(MANY);
        assertThat(perEntry).isLessThanOrEqualTo(125);
    }

    @Test
    void onlyParametersThatAConsumerUsesAreKept() {
        replace(List.of(ProviderNames.name(1, 7, "a")));

        assertThat(known.providers()).singleElement().satisfies(provider -> {
            assertThat(provider.protocol()).isEqualTo("dubbo");
            assertThat(provider.service()).isEqualTo(new ServiceKey("cap.Greeting", "", ""));
            assertThat(provider.parameter("application")).isEqualTo("shop");
            assertThat(provider.parameter("category")).isEmpty();
            assertThat(provider.attribute("zone")).isEqualTo("a");
            assertThat(provider.attribute("weight")).isNull();
            assertThat(provider.attribute("timestamp")).isEqualTo("7");
            assertThat(provider.shared().parameters()).containsOnlyKeys("application", "zone");
        });
    }

    /**
     * The tested name is the last name in the list. Some of the tested names differ from an earlier name only in
     * address and start time.
     */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "dubbo%3A%2F%2F10.0.0.1%3A20880" + REST,
                "tri%3A%2F%2F10.0.0.1%3A20880" + REST,
                "dubbo%3A%2F%2F10.0.0.1%3A20880" + REST + "%26zone%3Da",
                "dubbo%3A%2F%2F10.0.0.1%3A20880" + REST + "%26timestamp%3D8",
                "dubbo%3A%2F%2F10.0.0.1%3A20880" + REST + "%38",
                "dubbo%3A%2F%2F10.0.0.1%3A20880" + REST + "x",
                "dubbo%3A%2F%2F10.0.0.1%3A20880%2Fcap.Greeting%3Finterface%3Dcap.Greeting",
                "dubbo%3A%2F%2F10.0.0.1%3A20880%2Fa%26timestamp%3D5%2Fb",
                "dubbo%3A%2F%2F10.0.0.1%3A20880%2fcap.Other" + REST,
                "dubbo%3A%2F%2F10.0.0.1%3A20880%3Fa%3Db" + REST,
                "dubbo%3a%2f%2f10.0.0.2%3A1%3A%2F%2F10.0.0.1%3A20880" + REST,
                "dubbo%3A%2F%2F10.0.0.1%3A" + REST,
                "dubbo%3A%2F%2F10.0.0.1%3A99999" + REST,
                "dubbo%3A%2F%2F10.0.0.1%3A-1" + REST,
                "dubbo%3A%2F%2F%3A20880" + REST,
                "dubbo%3A%2F%2Fho%20st%3A20880" + REST,
                "dubbo%3A%2F%2F10.0.0.1" + REST,
                "dubbo%3A%2F%2Fme%3Asecret%4010.0.0.1%3A20880" + REST,
                "dubbo%3A%2F%2F%5B2001%3Adb8%3A%3A7%5D%3A20880" + REST,
                "%3A%2F%2F10.0.0.1%3A20880" + REST,
                "dubbo%3A%2F%2F10.0.0.1%3A20880" + REST + "%ZZ"
            })
    void nameIsReadAsIfItWereTheOnlyOne(String name) {
        KnownProviders alone = new KnownProviders();
        List<String> problems = new ArrayList<>();
        List<String> problemsAlone = new ArrayList<>();
        String rest = REST.replace("D7", "D1");
        List<String> names = List.of(
                "dubbo%3A%2F%2F10.0.0.9%3A1" + rest,
                "tri%3A%2F%2F10.0.0.9%3A1" + rest,
                "dubbo%3A%2F%2F10.0.0.9%3A1" + rest + "%26zone%3Da",
                name);

        known.replace(names, (left, wrong) -> problems.add(wrong.getMessage()));
        alone.replace(List.of(name), (left, wrong) -> problemsAlone.add(wrong.getMessage()));

        assertThat(known.providers().stream()
                        .filter(provider -> !provider.host().equals("10.0.0.9")))
                .containsExactlyElementsOf(alone.providers());
        assertThat(problems).isEqualTo(problemsAlone);
    }
}
