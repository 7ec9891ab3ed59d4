package tern.rpc.registry.dubbo;

import java.util.HashMap;
import java.util.Map;
import tern.rpc.registry.dubbo.KnownProviders.Provider;
import tern.rpc.registry.dubbo.KnownProviders.Shared;

/**
 * Parses the new names of one interface-level list. Most names differ only in address and start time, so the parser
 * decodes only one of these names completely. Each parser is used for only one list, because a parser keeps all
 * attributes that it has read. Not thread-safe.
 */
final class ProviderParser {

    private final Map<Shared, Shared> shared = new HashMap<>();
    private final Map<String, Shared> byText = new HashMap<>();

    /** Adds the attributes of a known provider. New providers with equal attributes then use the same object. */
    void add(Shared known) {
        shared.putIfAbsent(known, known);
    }

    /**
     * Parses a node's name.
     *
     * @throws IllegalArgumentException if the name is not the encoded URL of a provider, or exceeds the limits
     */
    Provider parse(String name) {
        Provider provider = parsed(name);
        if (provider.port() == 0 && !provider.protocol().equals(ProviderUrl.NO_PROVIDER)) {
            throw new IllegalArgumentException("a URL without a port");
        }
        return provider;
    }

    private Provider parsed(String name) {
        ProviderUrl.checkNode(name);
        NameParts parts = NameParts.of(name);
        if (parts == null) {
            return parseInFull(name);
        }
        Shared same = byText.get(parts.common());
        if (same == null) {
            Provider provider = parseInFull(name);
            byText.put(parts.common(), provider.shared());
            return provider;
        }
        return new Provider(
                ProviderUrl.host(parts.host()),
                ProviderUrl.port(parts.port()),
                ReadAttributes.startedAtMillis(parts.startedAt()),
                same);
    }

    private Provider parseInFull(String name) {
        ProviderUrl url = ProviderUrl.parseNode(name);
        Shared own = Shared.of(url);
        Shared same = shared.putIfAbsent(own, own);
        return new Provider(
                url.host(),
                url.port(),
                ReadAttributes.startedAtMillis(url.parameter(ReadAttributes.TIMESTAMP)),
                same == null ? own : same);
    }
}
