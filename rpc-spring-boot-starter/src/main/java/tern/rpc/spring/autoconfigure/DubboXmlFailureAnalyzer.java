package tern.rpc.spring.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanDefinitionStoreException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;

/**
 * Explains a startup that failed because a Spring XML file still has Dubbo elements although Dubbo's jar is missing.
 * Without the jar, Spring knows neither the schema nor the elements.
 */
final class DubboXmlFailureAnalyzer extends AbstractFailureAnalyzer<BeanDefinitionStoreException> {

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeanDefinitionStoreException cause) {
        String why =
                String.valueOf(NestedExceptionUtils.getMostSpecificCause(cause).getMessage());
        boolean unknownElement = why.contains("element 'dubbo:");
        boolean unknownNamespace = why.contains("NamespaceHandler") && why.contains("dubbo");
        if (!unknownElement && !unknownNamespace) {
            return null;
        }
        String file = cause.getResourceDescription();
        return new FailureAnalysis(
                (file == null ? "A Spring XML file" : file) + " has elements of Dubbo, such as <dubbo:service>, but"
                        + " Dubbo is not on the class path.",
                "Remove the dubbo: elements and their namespace from the file; other beans may stay. Put @RpcService on"
                        + " the classes and @RpcReference where the references are used; docs/from-dubbo.md lists what"
                        + " replaces the other elements.",
                cause);
    }
}
