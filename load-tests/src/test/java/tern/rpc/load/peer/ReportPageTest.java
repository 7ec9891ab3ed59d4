package tern.rpc.load.peer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

class ReportPageTest {

    private final String html = new ReportPage(Measured.results(), Map.of("JDK", "17 <&>")).html();

    @Test
    void pageIsWellFormedAndNamesEveryPeerAndScene() throws Exception {
        Document page = parsed();

        String text = page.getDocumentElement().getTextContent();
        assertThat(text).contains("tern-dubbo", "dubbo-hessian2", "tern-tri", "existUser", "mixed", "17 <&>");
        assertThat(page.getElementsByTagName("svg").getLength()).isEqualTo(2 * 3);
    }

    @Test
    void aPeerThatFailedIsARowWithTheReasonEscaped() {
        assertThat(html)
                .contains("no &lt;b&gt;luck&lt;/b&gt; &amp; &quot;no&quot; port?")
                .doesNotContain("<b>luck");
        assertThat(ResultTable.text(Measured.results())).contains("tern-tri", "failed: no <b>luck</b>");
    }

    @Test
    void barsAreAsLongAsTheirCpu() throws Exception {
        assertThat(widths("client")).containsExactly(120.0, 240.0);
    }

    @Test
    void pageNeedsNoOtherFile() {
        assertThat(html).doesNotContain("src=", "href=", "url(", "@import", "<script");
    }

    @Test
    void pageHasARatioToEachPeer() throws Exception {
        List<String> cells = new ArrayList<>();
        NodeList all = parsed().getElementsByTagName("td");
        for (int i = 0; i < all.getLength(); i++) {
            if (all.item(i).getAttributes().getNamedItem("class") != null) {
                cells.add(all.item(i).getTextContent());
            }
        }
        assertThat(cells).contains("0.50");
    }

    private List<Double> widths(String style) throws Exception {
        List<Double> widths = new ArrayList<>();
        NodeList bars = parsed().getElementsByTagName("svg").item(0).getChildNodes();
        for (int i = 0; i < bars.getLength(); i++) {
            if (bars.item(i).getAttributes() != null
                    && bars.item(i).getAttributes().getNamedItem("class") != null
                    && bars.item(i)
                            .getAttributes()
                            .getNamedItem("class")
                            .getNodeValue()
                            .equals(style)) {
                widths.add(Double.parseDouble(
                        bars.item(i).getAttributes().getNamedItem("width").getNodeValue()));
            }
        }
        return widths;
    }

    private Document parsed() throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(html)));
    }
}
