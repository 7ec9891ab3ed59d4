package tern.rpc.netty.dubbo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.dubbo.config.annotation.DubboReference;
import org.apache.dubbo.config.annotation.DubboService;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that docs/from-dubbo.md contains every attribute of Dubbo's annotations. */
class DubboAttributesTest {

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern WORD = Pattern.compile("\\w+");

    @ParameterizedTest
    @ValueSource(classes = {DubboReference.class, DubboService.class, org.apache.dubbo.config.annotation.Method.class})
    void pageNamesEveryAttribute(Class<?> annotation) throws IOException {
        String page = Files.readString(Path.of("..", "docs", "from-dubbo.md"));
        Set<String> named = CODE.matcher(page)
                .results()
                .flatMap(code -> WORD.matcher(code.group(1)).results())
                .map(word -> word.group())
                .collect(Collectors.toSet());

        assertThat(named)
                .containsAll(Arrays.stream(annotation.getDeclaredMethods())
                        .map(Method::getName)
                        .toList());
    }
}
