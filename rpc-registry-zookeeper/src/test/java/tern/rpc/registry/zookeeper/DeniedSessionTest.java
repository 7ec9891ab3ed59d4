package tern.rpc.registry.zookeeper;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.security.NoSuchAlgorithmException;
import java.util.List;
import java.util.Map;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.ServerCnxn;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tern.rpc.ServiceKey;
import tern.rpc.endpoint.EndpointSnapshot.State;
import tern.rpc.registry.Publication;
import tern.rpc.registry.Registration;
import tern.rpc.registry.Registry;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.registry.Subscription;

/**
 * Tests a client whose user is rejected by ZooKeeper for a while, for example because of a wrong setting on the server.
 */
@Timeout(180)
class DeniedSessionTest {

    private static final String PROVIDER = "zookeeper.authProvider.denying";
    private static final ServiceKey GREETING = new ServiceKey("cap.Greeting", "", "");
    private static final String ENTRY = "/dubbo/cap.Greeting/providers/dubbo%3A%2F%2F10.0.0.9%3A7001%2Fcap.Greeting"
            + "%3Finterface%3Dcap.Greeting";

    /** An authentication provider that accepts no user while a flag is set. */
    public static final class Denying extends DigestAuthenticationProvider {

        static volatile boolean denies;

        @Override
        public KeeperException.Code handleAuthentication(ServerCnxn connection, byte[] credentials) {
            if (denies) {
                return KeeperException.Code.AUTHFAILED;
            }
            try {
                connection.addAuthInfo(new Id(getScheme(), generateDigest(new String(credentials, UTF_8))));
                return KeeperException.Code.OK;
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private ZooKeeperServer zooKeeper;
    private Registry registry;

    @BeforeEach
    void start() throws Exception {
        System.setProperty(PROVIDER, Denying.class.getName());
        ProviderRegistry.addOrUpdateProvider(PROVIDER);
        Denying.denies = true;
        zooKeeper = new ZooKeeperServer();
        registry = new ZooKeeperRegistry.Factory(ZooKeeperRegistry.Form.DEFAULT)
                .open(RegistryUrl.parse("zookeeper://user:password@" + zooKeeper.address()));
    }

    @AfterEach
    void stop() throws Exception {
        registry.close();
        zooKeeper.close();
        System.clearProperty(PROVIDER);
        ProviderRegistry.reset();
    }

    @Test
    void consumerFindsTheProvidersOnceItsUserIsAccepted() throws Exception {
        zooKeeper.create(ENTRY, "", CreateMode.PERSISTENT);
        Snapshots snapshots = new Snapshots();
        registry.source(new Subscription(GREETING, "dubbo")).start(snapshots);
        Await.until("the reason is known", () -> snapshots.last().why().contains("the user or the password is wrong"));
        assertThat(snapshots.all()).allMatch(snapshot -> snapshot.state() == State.UNKNOWN);

        Denying.denies = false;

        snapshots.awaitAddresses("10.0.0.9:7001");
    }

    @Test
    void providerRegistersOnceItsUserIsAccepted() throws Exception {
        Publication publication = registry.publish(new Registration(
                "shop",
                "10.0.0.9",
                7001,
                List.of("dubbo"),
                List.of(new Registration.Service(GREETING, List.of("greet"), 100)),
                Map.of(),
                0,
                1));
        Await.until("the rejection is known", () -> !publication.problem().isEmpty());

        Denying.denies = false;

        Await.until("the provider is published", () -> publication.seen().isDone());
        assertThat(publication.problem()).isEmpty();
    }
}
