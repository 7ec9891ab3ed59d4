package tern.rpc.spring.autoconfigure;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.PlaceholderResolutionException;
import tern.rpc.settings.InvalidPropertyException;
import tern.rpc.transport.Token;

/**
 * Rejects values of Tern's properties that Spring would silently replace with other values, or that would silently
 * remove a protection. For example, if no property matches a placeholder in a token, the placeholder would stay in the
 * token as text. Everyone who has read the configuration file would then know the token. YAML can read a text without
 * quotes as a number or boolean that differs from the text in the file. The error messages contain no tokens.
 */
final class PropertyValueCheck {

    /**
     * Properties whose blank value would remove a protection, with the values to set. A blank value can come from an
     * unset variable.
     */
    private static final Map<ConfigurationPropertyName, String> NEVER_BLANK = Map.of(
            ConfigurationPropertyName.of("rpc.server.address"), "a host name or IP address of this machine",
            ConfigurationPropertyName.of("rpc.server.allowed-hosts"), "one host name or more",
            ConfigurationPropertyName.of("rpc.server.cors.allowed-headers"), "one header or more",
            ConfigurationPropertyName.of("rpc.server.ssl.client-auth"), "none, want or need");

    /**
     * The last part of the names of properties whose value is a number or the keyword {@code adaptive}. The type of
     * these properties is String because of the keyword, but a number in YAML is accepted without quotes.
     */
    private static final String NUMBER_AS_TEXT = "max-concurrency";

    private static final String OWN_PORT = "local.rpc.port";
    private static final String WEB_PORT = "local.server.port";

    private static final Pattern QUOTED = Pattern.compile("\\s*([\"'])(?s:.*)\\1\\s*");

    private static final Pattern COMMENT = Pattern.compile("\\s(#|//)");

    /**
     * Matches shell, Windows, Maven and template placeholders, and Spring expressions. Two hexadecimal digits between
     * percent signs are not a placeholder, because they are part of an encoded text such as {@code %E4%BD%A0}.
     */
    private static final Pattern OF_ANOTHER_TOOL =
            Pattern.compile("(?<!\\w)\\$[A-Z][A-Z0-9_]+|\\$\\(.*\\)|%(?![0-9A-F]{2}%)[A-Z][A-Z0-9_]+%"
                    + "|@[a-zA-Z][\\w.-]*@|\\{\\{.*}}|#\\{.*}");

    /** Matches the value of an environment variable that Kubernetes sets for the port of a Service. */
    static final Pattern SERVICE_LINK = Pattern.compile("(tcp|udp|sctp)://\\S+");

    private final Environment environment;
    private final KnownProperties known;
    private final List<ConfigurationPropertySource> earlier = new ArrayList<>();

    PropertyValueCheck(Environment environment, KnownProperties known) {
        this.environment = environment;
        this.known = known;
    }

    /**
     * Checks the property values that take effect. A value takes effect if no earlier property source overrides it.
     *
     * @throws InvalidPropertyException if a value cannot be used as it is written
     */
    void check() {
        for (ConfigurationPropertySource source : ConfigurationPropertySources.get(environment)) {
            if (source instanceof IterableConfigurationPropertySource names) {
                names.stream()
                        .filter(name -> isKnown(source, name) && !isOverridden(name))
                        .forEach(name -> check(name, source.getConfigurationProperty(name)));
            }
            earlier.add(source);
        }
    }

    private boolean isKnown(ConfigurationPropertySource source, ConfigurationPropertyName name) {
        boolean ours = known.roots().stream().anyMatch(root -> root.isAncestorOf(name));
        return ours && (hasVariables(source) ? known.containsVariable(name) : known.contains(name));
    }

    private static boolean hasVariables(@Nullable ConfigurationPropertySource source) {
        return source != null && source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource;
    }

    /**
     * Returns whether an earlier source sets the property. If the property is an element of a list, returns whether an
     * earlier source sets the list.
     */
    private boolean isOverridden(ConfigurationPropertyName name) {
        ConfigurationPropertyName whole = name.isLastElementIndexed() ? name.getParent() : name;
        return earlier.stream()
                .anyMatch(source -> source.getConfigurationProperty(whole) != null
                        || source.getConfigurationProperty(whole.append("[0]")) != null);
    }

    private void check(ConfigurationPropertyName name, @Nullable ConfigurationProperty property) {
        if (property == null) {
            return;
        }
        checkIndex(name, property);
        Object value = property.getValue();
        if (value instanceof CharSequence text) {
            InvisibleCharacters.check(name, text.toString());
            checkServiceLink(name, property, text.toString());
            checkMarks(name, text.toString());
            checkOtherPlaceholders(name, text.toString());
            String replaced = checkPlaceholders(name, text.toString());
            String expected = NEVER_BLANK.get(name);
            if (expected != null && replaced.isBlank()) {
                throw new InvalidPropertyException(name.toString(), "empty", expected);
            }
            if (replaced.isBlank()) {
                checkBlank(name);
            }
        } else {
            checkText(name, property, value);
        }
    }

    /**
     * Rejects a list whose numbers have a gap, or do not begin with 0. Spring's own message would contain the value,
     * which might be a token.
     */
    private void checkIndex(ConfigurationPropertyName name, ConfigurationProperty property) {
        ConfigurationPropertySource source = property.getSource();
        int last = name.getNumberOfElements() - 1;
        // A number at the end of an environment variable is not always a list index. It can also be a name, as in
        // RPC_CLIENT_REGISTRIES_2.
        if (source == null || !name.isNumericIndex(last) || known.typeOf(name.getParent()) == null) {
            return;
        }
        BigInteger index = new BigInteger(name.getElement(last, Form.ORIGINAL));
        if (index.signum() == 0 || source.getConfigurationProperty(name.getParent()) != null) {
            return; // If the list also has a value without a number, Spring ignores its numbered elements.
        }
        ConfigurationPropertyName before = name.getParent().append("[" + index.subtract(BigInteger.ONE) + "]");
        if (source.getConfigurationProperty(before) == null) {
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " is set, but " + before + " is not set in the same place",
                    "Number the elements from 0 without a gap, and set all of them in the same file or in environment"
                            + " variables. A list may also be one value with commas.",
                    null);
        }
    }

    /**
     * Rejects quotation marks around a value, and a comment after a value. YAML removes both. In a {@code .properties}
     * file, in a Docker environment file and in the Windows {@code set} command, both are part of the value. The
     * messages do not show the value, because it might be a token.
     */
    private static void checkMarks(ConfigurationPropertyName name, String text) {
        if (QUOTED.matcher(text).matches()) {
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " has quotation marks around its value, which are part of the value",
                    "Remove the quotation marks. Only YAML needs them; in a .properties file and in an environment"
                            + " variable they belong to the value.",
                    null);
        }
        if (COMMENT.matcher(text).find()) {
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " has a comment after its value, which is part of the value",
                    "Move the comment to a separate line. Only YAML allows a comment after a value.",
                    null);
        }
    }

    /**
     * Rejects a placeholder in another tool's syntax, such as {@code $TOKEN}, which Spring does not replace. A token,
     * or a password in an address, can contain the same characters. Such a value is therefore rejected only if the
     * whole value is a placeholder. The message does not show the value, because it might be a token.
     */
    private void checkOtherPlaceholders(ConfigurationPropertyName name, String text) {
        Matcher placeholder = OF_ANOTHER_TOOL.matcher(text.trim());
        Class<?> type = known.typeOf(name);
        boolean mayBeSecret = type == null || type == Token.class || text.contains("@") || text.contains("password=");
        if (mayBeSecret ? placeholder.matches() : placeholder.find()) {
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " contains a placeholder or an expression in a form that Tern's properties do not support,"
                            + " such as $NAME, %NAME%, @name@, {{ name }} or #{name}",
                    "For the value of a property or an environment variable, write ${NAME}. If another tool, such as"
                            + " Maven or Helm, replaces the placeholder, make sure that it processes this file.",
                    null);
        }
    }

    /**
     * Rejects a blank number or flag, which is often an unset variable. Spring's message would not mention the unset
     * variable.
     */
    private void checkBlank(ConfigurationPropertyName name) {
        Class<?> type = known.typeOf(name);
        if (type != null && type.isPrimitive()) {
            throw new InvalidPropertyException(
                    name.toString(), "empty", type == boolean.class ? "true or false" : "a number");
        }
    }

    /**
     * Rejects the variable that Kubernetes sets for a Service such as {@code rpc-server}. The variable has the name of
     * one of Tern's properties, but its value is an address.
     */
    private static void checkServiceLink(ConfigurationPropertyName name, ConfigurationProperty property, String text) {
        if (hasVariables(property.getSource())
                && name.getLastElement(Form.UNIFORM).equals("port")
                && SERVICE_LINK.matcher(text).matches()) {
            String variable = name.toString().toUpperCase(Locale.ROOT).replace('.', '_');
            String service =
                    variable.replaceFirst("_PORT$", "").toLowerCase(Locale.ROOT).replace('_', '-');
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " is " + text + ", because " + variable + " comes from a Kubernetes Service named "
                            + service,
                    "Set enableServiceLinks: false in the specification of the pod, or rename the Service.",
                    null);
        }
    }

    /**
     * Rejects a value that YAML reads as a number or boolean if the resulting text differs from the text in the file,
     * or if the value is a token. For example, YAML reads 012345 as 5349. A time or another number is rejected only if
     * YAML reads it in another base: YAML reads 1:30 as 90, which would be 90 ms.
     */
    private void checkText(ConfigurationPropertyName name, ConfigurationProperty property, Object value) {
        Class<?> type = known.typeOf(name);
        if (type == Token.class) {
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " " + YamlText.kind(value)
                            + ", which may differ from the text in the file: YAML reads 012345 as 5349",
                    "Put the token in quotes.",
                    null);
        }
        YamlText changed = YamlText.changedBy(property);
        boolean isText = type == String.class && !name.toString().endsWith(NUMBER_AS_TEXT);
        if (changed != null && isText) {
            throw new InvalidPropertyException(name.toString(), name + " " + changed.problem(), changed.action(), null);
        }
        if (changed != null && changed.isInAnotherBase()) {
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " " + changed.difference(),
                    "Write a number without leading zeros and colons. A time needs a unit, such as 90s or 90m.",
                    null);
        }
    }

    /** Returns the text with its placeholders replaced. */
    private String checkPlaceholders(ConfigurationPropertyName name, String text) {
        try {
            return environment.resolveRequiredPlaceholders(text);
        } catch (PlaceholderResolutionException e) {
            String missing = e.getPlaceholder();
            if (OWN_PORT.equals(missing)) {
                // The placeholder for the own port is left in the text. The class Addresses reports later why the port
                // is unknown.
                return text;
            }
            if (WEB_PORT.equals(missing)) {
                throw new InvalidPropertyException(
                        name.toString(),
                        name + " contains the placeholder ${" + missing + "}, the port of this application's web"
                                + " server, which is known only after the start and does not serve RPC",
                        "To call a service of this application, set rpc.client.url to local. Otherwise, write the RPC"
                                + " port of the provider.",
                        e);
            }
            throw new InvalidPropertyException(
                    name.toString(),
                    name + " contains the placeholder ${" + missing + "}, but there is no property or environment"
                            + " variable " + missing,
                    "Set " + missing + ", or give the placeholder a default value: ${" + missing
                            + ":…}. If the value itself contains ${, write \\${.",
                    e);
        }
    }
}
