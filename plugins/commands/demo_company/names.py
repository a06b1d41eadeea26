"""What the demonstration company is made of: its people, its customers, what it buys and sells."""

# department: name, code, the code of the one above
DEPARTMENTS = (
    ("华南销售组", "sales-south", "sales"),
    ("采购部", "purchasing", "hq"),
    ("仓储部", "warehouse", "hq"),
    ("财务部", "finance", "hq"),
    ("技术支持部", "support", "hq"),
)
# account: user name, real name, role, department
ACCOUNTS = (
    ("chen.xiaoyan", "陈晓燕", "sales", "sales-east"),
    ("lin.zhiqiang", "林志强", "sales", "sales-south"),
    ("huang.lijun", "黄丽君", "sales", "sales-south"),
    ("xu.jianguo", "徐建国", "manager", "purchasing"),
    ("he.meiling", "何美玲", "manager", "finance"),
)
# further employees: name, department, months since they joined
EMPLOYEES = (
    ("谢军", "warehouse", 31),
    ("邓小波", "warehouse", 26),
    ("曹志远", "warehouse", 14),
    ("彭海燕", "warehouse", 9),
    ("蒋文斌", "warehouse", 5),
    ("余婷", "purchasing", 28),
    ("潘国强", "purchasing", 12),
    ("杜鹃", "finance", 33),
    ("叶青", "finance", 19),
    ("程晓东", "finance", 7),
    ("魏然", "support", 24),
    ("任嘉怡", "support", 16),
    ("姚远", "support", 10),
    ("卢思琪", "support", 3),
    ("钟伟明", "sales-east", 21),
    ("崔莹", "sales-east", 13),
    ("秦浩", "sales-east", 6),
    ("江雪梅", "sales-south", 18),
    ("史磊", "sales-south", 11),
    ("顾晓彤", "sales-south", 4),
    ("侯建华", "office", 36),
    ("孟雨晴", "office", 8),
)
# customer: name, industry, level, city, contact, title
CUSTOMERS = (
    ("苏州恒达精密机械有限公司", "manufacturing", "A", "江苏省苏州市工业园区", "沈国平", "采购总监"),
    ("宁波海天模具有限公司", "manufacturing", "A", "浙江省宁波市北仑区", "毛海峰", "采购经理"),
    ("杭州云峰自动化设备有限公司", "manufacturing", "A", "浙江省杭州市余杭区", "方敏", "供应链经理"),
    ("无锡锡山电气有限公司", "energy", "B", "江苏省无锡市锡山区", "华建明", "采购主管"),
    ("东莞市宏业五金制品厂", "manufacturing", "B", "广东省东莞市长安镇", "梁伟雄", "厂长"),
    ("深圳市智联传感技术有限公司", "software", "A", "广东省深圳市南山区", "罗晓峰", "研发总监"),
    ("佛山市顺德区永盛电器有限公司", "manufacturing", "B", "广东省佛山市顺德区", "何志辉", "采购经理"),
    ("合肥科晟新能源有限公司", "energy", "A", "安徽省合肥市高新区", "汪洋", "采购总监"),
    ("常州龙腾轨道装备有限公司", "manufacturing", "A", "江苏省常州市武进区", "蒋丽萍", "商务经理"),
    ("南通江海船舶配件有限公司", "manufacturing", "B", "江苏省南通市崇川区", "季海东", "采购主管"),
    ("嘉兴嘉宝食品机械有限公司", "manufacturing", "C", "浙江省嘉兴市南湖区", "俞芳", "采购员"),
    ("温州瑞安汽车零部件有限公司", "manufacturing", "B", "浙江省温州市瑞安市", "林建勋", "总经理"),
    ("厦门鹭岛物流设备有限公司", "logistics", "B", "福建省厦门市湖里区", "苏志坚", "设备经理"),
    ("广州穗通冷链物流有限公司", "logistics", "B", "广东省广州市白云区", "黎健文", "设备主管"),
    ("武汉光谷激光设备有限公司", "manufacturing", "A", "湖北省武汉市东湖高新区", "熊伟", "采购经理"),
    ("成都蜀锦包装材料有限公司", "retail", "C", "四川省成都市龙泉驿区", "唐静", "采购员"),
    ("青岛海蓝水处理工程有限公司", "construction", "B", "山东省青岛市黄岛区", "宋立新", "项目经理"),
    ("济南泉城医疗器械有限公司", "healthcare", "B", "山东省济南市历下区", "孔祥宇", "采购经理"),
    ("长沙湘江工程机械租赁有限公司", "construction", "C", "湖南省长沙市岳麓区", "谭勇", "设备经理"),
    ("昆山台联电子有限公司", "manufacturing", "A", "江苏省苏州市昆山市", "吕佳慧", "资材经理"),
    ("Pacific Tooling Inc.", "manufacturing", "A", "2200 Harbor Blvd, Long Beach, CA", "Karen Mitchell", "Buyer"),
    ("Nordhafen Maschinenhandel GmbH", "retail", "B", "Am Sandtorkai 48, Hamburg", "Jens Petersen", "Einkauf"),
    ("Sakura Precision K.K.", "manufacturing", "B", "3-5-1 Minato, Osaka", "Yuki Tanabe", "Purchasing"),
    ("Brisbane Fasteners Pty Ltd", "retail", "C", "14 Eagle St, Brisbane QLD", "Oliver Shaw", "Director"),
)
# product: sku, name, unit, category, sales price, purchase price
PRODUCTS = (
    ("P-1003", "深沟球轴承 6204-2RS", "piece", "parts", "12.80", "7.90"),
    ("P-1004", "直线导轨 HGH20CA", "piece", "parts", "186.00", "121.00"),
    ("P-1005", "滚珠丝杆 SFU1605", "piece", "parts", "245.00", "162.50"),
    ("P-1006", "同步带轮 5M-30T", "piece", "parts", "38.50", "22.40"),
    ("P-1007", "气动快插接头 PC8-02", "box", "parts", "68.00", "41.00"),
    ("P-2002", "304 不锈钢棒 Φ20", "kg", "materials", "23.60", "17.80"),
    ("P-2003", "6061 铝板 10mm", "kg", "materials", "31.20", "24.10"),
    ("P-3002", "光电开关 E3Z-D61", "piece", "finished", "128.00", "79.00"),
    ("P-3003", "变频器 2.2kW", "piece", "finished", "1280.00", "865.00"),
    ("P-3004", "伺服电机套装 750W", "piece", "finished", "1980.00", "1390.00"),
    ("P-3005", "触摸屏 7 寸 HMI", "piece", "finished", "860.00", "590.00"),
    ("P-4002", "气泡膜 50cm×100m", "piece", "supplies", "45.00", "28.00"),
)
# supplier: code, name, contact
SUPPLIERS = (
    ("S-003", "上海人本轴承销售有限公司", "王建平"),
    ("S-004", "台州精工传动部件厂", "李永康"),
    ("S-005", "无锡太钢不锈钢贸易有限公司", "周海"),
    ("S-006", "深圳市汇川自动化代理商", "吴俊杰"),
    ("S-007", "义乌市佳美包装制品厂", "楼晓红"),
)
VISITS = (
    ("电话沟通下半年用量，客户希望账期延长到 60 天。", "phone"),
    ("上门拜访采购部，介绍导轨与丝杆的成套方案。", "visit"),
    ("样品已寄出，约定下周确认测试结果。", "wechat"),
    ("客户反馈上一批轴承包装破损 3 箱，已登记并安排补发。", "phone"),
    ("参加客户年度供应商大会，被评为优秀供应商。", "visit"),
    ("邮件发送新报价，价格有效期 30 天。", "email"),
)
DEALS = ("产线改造备件", "年度框架采购", "设备配套传感器", "自动化升级项目", "仓库货架配件", "售后备件补充")
CLAIMS = (
    ("广州客户拜访差旅费", "travel", ("高铁票", "1098.00"), ("酒店两晚", "836.00")),
    ("展会布置费用", "office", ("展板制作", "2350.00"), ("宣传册印刷", "1680.00")),
    ("客户接待餐费", "office", ("工作午餐", "468.00"), ("市内交通", "86.50")),
    ("打印耗材与文具", "office", ("硒鼓", "520.00"), ("A4 纸十箱", "1350.00")),
)
# vouchers of each month: kind, category, counterparty, amount
MONTHLY = (
    ("expense", "salary", "员工工资", "186400.00"),
    ("expense", "rent", "上海嘉定仓储租赁中心", "18000.00"),
    ("expense", "service", "德邦物流月结运费", "11860.00"),
)
# title, category, days since publication, summary, Markdown
ARTICLES = (
    (
        "华南仓正式启用，珠三角订单次日达",
        "news",
        9,
        "新仓面积两千平方米，备货八百个常用型号。",
        "华南仓已于本月**正式启用**。\n\n- 珠三角地区当日 16:00 前下单，次日送达\n- 常备轴承、导轨、气动元件八百余个型号\n",
    ),
    (
        "直线导轨选型指南",
        "products",
        23,
        "三步确定规格、精度和预压。",
        "## 选型三步\n\n1. 计算负载与寿命\n2. 确定精度等级\n3. 选择预压\n\n| 型号 | 额定动载荷 |\n|---|---|\n| HGH15 | 11.4 kN |\n"
        "| HGH20 | 17.7 kN |\n| HGH25 | 26.5 kN |\n",
    ),
    (
        "苏州恒达：备件库存下降三成",
        "cases",
        41,
        "寄售加月结，让备件不再占用资金。",
        "通过寄售库存与按月结算，苏州恒达的备件库存金额**下降了 31%**，停机待料时间减少一半。\n",
    ),
)
