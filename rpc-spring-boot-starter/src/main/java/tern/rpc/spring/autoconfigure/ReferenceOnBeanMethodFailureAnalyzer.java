package tern.rpc.spring.autoconfigure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.parsing.BeanDefinitionParsingException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Explains a failed startup caused by {@code @RpcReference} on a {@code @Bean} method. Spring's message mentions only
 * {@code @Autowired}, which is a meta-annotation of {@code @RpcReference}.
 */
final class ReferenceOnBeanMethodFailureAnalyzer extends AbstractFailureAnalyzer<BeanDefinitionParsingException> {

    /**
     * Extracts the names of the method and the class from the message of Spring's exception, which has no accessors for
     * them.
     */
    private static final Pattern AUTOWIRED = Pattern.compile(
            "@Bean method '(?<method>[^']+)' must not be declared as autowired.*?"
                    + "Offending resource: (?<place>[^\\n]+)",
            Pattern.DOTALL);

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeanDefinitionParsingException cause) {
        Matcher matcher = AUTOWIRED.matcher(String.valueOf(cause.getMessage()));
        return matcher.find()
                ? new FailureAnalysis(
                        "The @Bean method '" + matcher.group("method") + "' of " + matcher.group("place")
                                + " has @RpcReference or @Autowired, but a @Bean method creates the bean itself.",
                        "Put @RpcReference on a parameter of the @Bean method, or on a field in place of the method.",
                        cause)
                : null;
    }
}
