package shop;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import tern.rpc.spring.RpcReference;

/**
 * Makes calls with an older version of the provider's interface. Supplies one call for each change between the two
 * versions. A call returns "works" if the change has no effect on the caller.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
public class Caller implements Supplier<Map<String, Callable<String>>> {

    @RpcReference
    Shop shop;

    @Override
    public Map<String, Callable<String>> get() {
        Map<String, Callable<String>> calls = new LinkedHashMap<>();
        calls.put("a method is added", () -> expect("tea", shop.kept("tea")));
        calls.put("an overload of a method is added", () -> expect("tea", shop.overloaded("tea")));
        calls.put("a method is removed or renamed", () -> expect("tea", shop.lost("tea")));
        calls.put("a parameter is added", () -> expect("tea", shop.moreParameters("tea")));
        calls.put("a parameter is removed", () -> expect("tea", shop.fewerParameters("tea", "milk")));
        calls.put("a parameter is renamed", () -> expect("tea", shop.renamedParameter("tea")));
        calls.put("the type of a parameter changes from `int` to `long`", () -> expect("5", shop.widerParameter(5)));
        calls.put("the type of a result changes from `int` to `long`", () -> expect(5, shop.widerResult()));
        calls.put("the type of a result changes from `List` to `Set`", () -> expect(List.of("tea"), shop.collection()));
        calls.put("a class gets a field, in an argument", () -> field(shop.addedToBean(new Shop.Bean())));
        calls.put("a class loses a field, in a result", () -> field(shop.lostFromBean().lost));
        calls.put("a field changes from `int` to `long`", () -> {
            Shop.Bean bean = new Shop.Bean();
            bean.number = 5;
            return expect(5, shop.widerField(bean).number);
        });
        calls.put("a record gets a component, in an argument", () -> field(shop.addedToRecord(new Shop.Item("tea"))));
        calls.put("a record gets a component, in a result", () -> expect("tea", shop.lostByCallers().name()));
        calls.put("an enum gets a constant", () -> expect(Shop.Color.RED, shop.color(Shop.Color.RED)));
        calls.put("an enum gets a constant, and the result contains it", () -> "the caller gets " + shop.newColor());
        calls.put("a class gets a subclass, and the result is an object of it", () -> {
            Shop.Animal animal = shop.animal();
            return animal.getClass() == Shop.Animal.class && "Rex".equals(animal.name)
                    ? "the caller gets the class it knows"
                    : "the caller gets " + animal;
        });
        calls.put("a declared exception gets a subclass, and the method throws it", () -> {
            try {
                shop.problem();
                return "no exception";
            } catch (Shop.Problem e) {
                return "the caller gets the class it knows";
            }
        });
        return calls;
    }

    private static String expect(Object expected, Object actual) {
        return expected.equals(actual) ? "works" : "the caller gets `" + actual + "`";
    }

    private static String field(String value) {
        return value == null ? "the field is null or 0" : "the field has its " + value + " value";
    }
}
