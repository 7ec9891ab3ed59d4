package tern.rpc.diagnosis.calls;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tern.rpc.Phase;
import tern.rpc.diagnosis.account.OperationNames;
import tern.rpc.diagnosis.account.Part.Kind;

/**
 * The times when calls last ended without a failure. The databases and Redis servers used by these calls were answering
 * at that time.
 *
 * @param byPhase for each kind of operation, the end of the last call that ran an operation of this kind and did not
 *     fail
 * @param byMethod for each method, the end of the last call to the method that did not fail
 * @param byStore when each data source and each Redis server last answered; empty if there is only one
 * @param servers the server of each data source and each Redis server, where it is known
 * @param silence the data sources and Redis servers that an earlier diagnosis has found to be silent
 */
public record Answers(
        Map<Phase, Long> byPhase,
        Map<String, Long> byMethod,
        Map<String, Long> byStore,
        Map<String, String> servers,
        Silence silence) {

    private static final String URL = "jdbc:";
    private static final Pattern HOST = Pattern.compile("//(?:[^/]*@)?([^/@]+)");

    public Answers {
        byPhase = Map.copyOf(byPhase);
        byMethod = Map.copyOf(byMethod);
        byStore = Map.copyOf(byStore);
        servers = Map.copyOf(servers);
    }

    /** Returns an instance without any recorded answers. */
    public static Answers unknown() {
        return new Answers(Map.of(), Map.of(), Map.of(), Map.of(), new Silence());
    }

    /**
     * Returns whether two operations run on the same server. Returns false for two data sources if one of their servers
     * is unknown.
     */
    public boolean areOfSameServer(String operation, String other) {
        String store = OperationNames.store(operation);
        String otherStore = OperationNames.store(other);
        String server = servers.get(store);
        return store.equals(otherStore) || (server != null && server.equals(servers.get(otherStore)));
    }

    /**
     * Returns the time when a call last got an answer from a database or Redis server (store); null if unknown.
     *
     * @param store {@link Kind#SQL} for a database, {@link Kind#REDIS} for Redis
     * @param name the name of the data source or Redis server; empty if there is only one
     */
    @Nullable
    public Long of(Kind store, String name) {
        if (!name.isEmpty()) {
            return byStore.get(name);
        }
        return byPhase.get(store == Kind.REDIS ? Phase.REDIS : Phase.SQL);
    }

    /** Returns the time when a call to the given method last ended without a failure; null if unknown. */
    @Nullable
    public Long of(String method) {
        return byMethod.get(method);
    }

    /**
     * Returns the host and port of the server of a data source or Redis server; null if they are unknown. Only these
     * parts of a database's URL may appear in the diagnosis, because the URL can also contain a user name and a
     * password.
     */
    @Nullable
    public String address(String store) {
        String server = servers.get(store);
        if (server == null || !server.startsWith(URL)) {
            return server;
        }
        Matcher host = HOST.matcher(server);
        return host.find() ? host.group(1) : null;
    }
}
