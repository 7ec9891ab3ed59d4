package tern.rpc.spring.autoconfigure;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tern.rpc.endpoint.Attributes;
import tern.rpc.registry.AdvertisedAddress;
import tern.rpc.registry.Registration;
import tern.rpc.registry.RegistryUrl;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.settings.PropertyCheck;
import tern.rpc.settings.RpcStartException;

/**
 * The validated settings for registering the server.
 *
 * @param registries the addresses of the registries; empty if the server is not registered
 * @param address the address on which the server listens; null for all addresses
 * @param attributes the process's attributes, which consumers can read
 */
record RegistrationSettings(
        List<RegistryUrl> registries,
        String application,
        AdvertisedAddress.Wish wish,
        @Nullable String address,
        Map<String, String> attributes,
        Duration warmup,
        boolean required) {

    static RegistrationSettings of(
            RpcServerProperties server, RpcRegistryProperties registry, @Nullable String address, String application) {
        List<RegistryUrl> registries = Registries.parseAll("rpc.server.registry", server.registry());
        if (!registries.isEmpty() && application.isBlank()) {
            throw new RpcStartException(
                    "rpc.server.registry is set, but the application has no name to register under",
                    "Set spring.application.name.",
                    null);
        }
        if (!registries.isEmpty()) {
            checkName(application);
        }
        for (RegistryUrl each : registries) {
            if (each.scheme().equals("file") && each.path().endsWith(".properties")) {
                throw new InvalidPropertyException(
                        "rpc.server.registry",
                        each.toString(),
                        "a file of JSON, such as file:///path.json, because Tern only reads .properties files");
            }
        }
        RpcServerProperties.Advertise advertise = server.advertise();
        return new RegistrationSettings(
                registries,
                application,
                new AdvertisedAddress.Wish(
                        SettingCheck.blankToNull(advertise.host()),
                        PropertyCheck.between("rpc.server.advertise.port", advertise.port(), 0, 65_535),
                        SettingCheck.blankToNull(advertise.network())),
                address,
                attributes(advertise),
                PropertyCheck.notNegative("rpc.server.advertise.warmup", advertise.warmup()),
                registry.required());
    }

    /** Checks the characters of the name, because the name becomes part of paths and lists in a registry. */
    private static void checkName(String application) {
        boolean isPath = application.contains("/") || application.contains("\\") || application.contains("..");
        boolean isControl = application.chars().anyMatch(Character::isISOControl);
        boolean isList = application.contains(",") || application.contains("&");
        if (isPath || isControl || isList || application.equals(".")) {
            throw new InvalidPropertyException(
                    "spring.application.name",
                    "'" + application + "'",
                    "a name without '/', '\\', ',', '&' and '..', because rpc.server.registry is set");
        }
    }

    private static Map<String, String> attributes(RpcServerProperties.Advertise advertise) {
        Map<String, String> attributes = new HashMap<>();
        put(attributes, "rpc.server.advertise.zone", Registration.ZONE, advertise.zone());
        put(attributes, "rpc.server.advertise.tag", Attributes.TAG, advertise.tag());
        return attributes;
    }

    /**
     * Adds an attribute after checking its characters, because some registries separate the parts of an entry with
     * reserved characters.
     */
    private static void put(Map<String, String> attributes, String property, String name, @Nullable String value) {
        String text = SettingCheck.blankToNull(value);
        if (text == null) {
            return;
        }
        if (!text.matches("[\\w.-]{1,64}")) {
            throw new InvalidPropertyException(
                    property, "'" + text + "'", "up to 64 letters, digits, dots, dashes and underscores");
        }
        attributes.put(name, text);
    }
}
