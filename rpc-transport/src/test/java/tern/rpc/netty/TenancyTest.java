package tern.rpc.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import tern.rpc.limit.FixedLimit;
import tern.rpc.limit.Limiter;
import tern.rpc.limit.Share;

/** Tests to which tenant the server assigns a connection's calls. */
class TenancyTest {

    private final Tenancy.Of all = new Tenancy.Of();

    private Tenancy from(String address) throws UnknownHostException {
        return new Tenancy(all, InetAddress.getByName(address), "a connection");
    }

    @Test
    void connectionsOfOneAddressHaveSharesOfTheirOwnWhileThereIsNoOther() throws Exception {
        Tenancy one = from("10.0.0.1");
        Tenancy other = from("10.0.0.1");

        assertThat(one.share()).isSameAs(one.share()).isNotSameAs(other.share());
    }

    @Test
    void connectionsOfOneAddressOfSeveralHaveOneShare() throws Exception {
        Tenancy one = from("10.0.0.1");
        Tenancy two = from("10.0.0.1");
        Tenancy other = from("10.0.0.2");

        assertThat(one.share()).isSameAs(two.share()).isNotSameAs(other.share());

        other.closed();

        assertThat(one.share()).isNotSameAs(two.share());
    }

    @Test
    void addressesOfOneNetworkOfIpv6AreOne() throws Exception {
        Tenancy one = from("2001:db8:1:2::1");
        Tenancy two = from("2001:db8:1:2:ffff::7");
        Tenancy other = from("2001:db8:1:3::1");

        assertThat(one.share()).isSameAs(two.share()).isNotSameAs(other.share());
    }

    @Test
    void namedTenantIsTheSameFromAnyAddress() throws Exception {
        Tenancy one = from("10.0.0.1");
        Tenancy two = from("10.0.0.2");
        Tenancy other = from("10.0.0.1");
        one.named(new X500Principal("CN=shop"));
        two.named(new X500Principal("CN=shop"));
        other.named(new X500Principal("CN=stock"));

        assertThat(one.share()).isSameAs(two.share()).isNotSameAs(other.share());
    }

    @Test
    void tenantThatReconnectsWhileItsMethodsRunKeepsItsShare() throws Exception {
        Limiter limiter = new Limiter(new FixedLimit(10), 10, () -> 0);
        from("10.0.0.9");
        Tenancy before = from("10.0.0.1");
        Share held = before.share();
        limiter.enter(held, 0);
        before.closed();

        Tenancy again = from("10.0.0.1");
        assertThat(again.share()).isSameAs(held);
        again.closed();

        limiter.leave(held, 0, 0);
        from("10.0.0.8").closed();
        assertThat(from("10.0.0.1").share()).isNotSameAs(held);
    }

    @Test
    void callsOfAConnectionCountToItsAddressWhenAnotherAddressComes() throws Exception {
        Limiter limiter = new Limiter(new FixedLimit(10), 10, () -> 0);
        Tenancy one = from("10.0.0.1");
        limiter.enter(one.share(), 0);
        assertThat(one.share().held()).isEqualTo(1);

        Tenancy two = from("10.0.0.1");
        assertThat(two.share().held()).isZero();
        from("10.0.0.2");

        assertThat(two.share().held()).isEqualTo(1);
        assertThat(two.share().tenant()).isEqualTo("10.0.0.1");
    }

    @Test
    void departedTenantsAreForgotten() throws Exception {
        Tenancy before = from("10.0.0.1");
        before.named(new X500Principal("CN=shop"));
        Share held = before.share();
        before.closed();

        Tenancy after = from("10.0.0.1");
        after.named(new X500Principal("CN=shop"));

        assertThat(after.share()).isNotSameAs(held);
    }

    @Test
    void tenantThatConnectsOftenWhileAMethodRunsIsRememberedOnce() throws Exception {
        Limiter limiter = new Limiter(new FixedLimit(10), 10, () -> 0);
        Tenancy first = from("10.0.0.1");
        Share held = first.share();
        limiter.enter(held, 0);
        first.closed();
        for (int i = 0; i < 100; i++) {
            from("10.0.0.1").closed();
        }

        assertThat(all.remembered()).isEqualTo(1);
        limiter.leave(held, 0, 0);
        from("10.0.0.8").closed();
        assertThat(all.remembered()).isZero();
    }
}
