package tern.rpc.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanDefinitionStoreException;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.xml.XmlBeanDefinitionReader;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.io.ByteArrayResource;

/** Tests the message for a Spring XML file that still contains Dubbo elements. */
class DubboXmlFailureAnalyzerTest {

    private static final String FILE = """
            <beans xmlns="http://www.springframework.org/schema/beans" xmlns:dubbo="http://dubbo.apache.org/schema/dubbo"
                xmlns:other="http://other.example/schema"
                xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="
                http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd">
              <%s/>
            </beans>
            """;

    private static FailureAnalysis analysis(String element, boolean validating) {
        XmlBeanDefinitionReader reader = new XmlBeanDefinitionReader(new DefaultListableBeanFactory());
        reader.setValidating(validating);
        reader.setNamespaceAware(true);
        try {
            reader.loadBeanDefinitions(new ByteArrayResource(
                    FILE.formatted(element).getBytes(StandardCharsets.UTF_8), "dubbo.xml of the test"));
            throw new AssertionError("the file has been read");
        } catch (BeanDefinitionStoreException e) {
            return new DubboXmlFailureAnalyzer().analyze(e, e);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void elementOfDubboIsNamedWithItsFileAndReplacement(boolean validating) {
        FailureAnalysis analysis = analysis("dubbo:application name='x'", validating);

        assertThat(analysis).isNotNull();
        assertThat(analysis.getDescription())
                .contains("has elements of Dubbo")
                .contains(validating ? "dubbo.xml of the test" : "");
        assertThat(analysis.getAction()).contains("@RpcService", "docs/from-dubbo.md");
    }

    @Test
    void elementOfAnotherLibraryIsNotExplained() {
        assertThat(analysis("other:thing", true)).isNull();
    }
}
